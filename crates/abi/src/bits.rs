//! One macro for the words whose bits have names.

/// Declares a newtype over an integer with named bits, set operations, and the names in bit order.
macro_rules! bit_word {
    ($(#[$doc:meta])* $name:ident : $int:ty { $($(#[$bdoc:meta])* $bit:ident = $pos:expr, $text:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$bdoc])* pub const $bit: $name = $name(1 << $pos);)*

            /// No bit set.
            pub const EMPTY: $name = $name(0);

            /// Every named bit with perf's name for it, lowest bit first.
            pub const NAMES: &'static [($name, &'static str)] = &[$(($name::$bit, $text),)*];

            /// Returns whether all bits of `other` are set.
            #[inline]
            pub const fn contains(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns whether any bit of `other` is set.
            #[inline]
            pub const fn intersects(self, other: $name) -> bool {
                self.0 & other.0 != 0
            }

            /// Sets or clears the bits of `other`.
            pub const fn set(&mut self, other: $name, on: bool) {
                if on { self.0 |= other.0 } else { self.0 &= !other.0 }
            }

            /// This word with the bits of `other` set.
            #[must_use]
            pub const fn with(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }

            /// This word with the bits of `other` cleared.
            #[must_use]
            pub const fn without(self, other: $name) -> $name {
                $name(self.0 & !other.0)
            }

            /// The names of the set bits, lowest bit first.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                Self::NAMES.iter().filter(move |(bit, _)| self.contains(*bit)).map(|(_, text)| *text)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;
            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: $name) {
                self.0 |= other.0;
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x}"), self.0)?;
                for name in self.names() {
                    write!(f, " {name}")?;
                }
                f.write_str(")")
            }
        }
    };
}

pub(crate) use bit_word;
