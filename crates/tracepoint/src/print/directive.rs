//! printf's directives: flags, width, precision, length and conversion.

use super::ctype::IntType;

/// A width or precision as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Fixed(usize),
    /// `*`: the next argument says.
    Argument,
}

/// One `%` directive as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) flags: Flags,
    pub(super) width: Option<Width>,
    pub(super) precision: Option<Width>,
    pub(super) length: Length,
    pub(super) conversion: Conversion,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) left: bool,
    pub(super) zeros: bool,
    pub(super) alternate: bool,
    pub(super) plus: bool,
    pub(super) space: bool,
}

/// The size of an integer argument, of which printf cuts off the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Char,
    Short,
    Int,
    /// The recorded kernel's `long`.
    Long,
    LongLong,
}

/// The conversion of an argument by a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    Signed,
    Unsigned,
    Octal,
    Hex { upper: bool },
    Char,
    Text,
    Pointer(Pointer),
}

/// The form that `%p` and the letters behind it ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    Address,
    Symbol {
        offset: bool,
    },
    Mac {
        separator: Option<u8>,
        reversed: bool,
    },
    Ipv4 {
        padded: bool,
    },
    Ipv6 {
        short: bool,
        colons: bool,
    },
    Socket {
        short: bool,
        port: bool,
    },
    Uuid {
        upper: bool,
        little: bool,
    },
    /// Set bits, the width being how many bits there are.
    Bits {
        ranges: bool,
    },
    /// Bytes, the width being how many there are.
    Bytes {
        separator: Option<u8>,
    },
}

/// A directive with its widths known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) left: bool,
    pub(super) zeros: bool,
    pub(super) alternate: bool,
    /// The sign before a number that is not negative.
    pub(super) plus: &'static [u8],
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
    pub(super) length: Length,
    pub(super) conversion: Conversion,
}

/// No text of a tracepoint needs more; a hostile width must not cost memory.
pub(super) const WIDEST: usize = 4096;

impl Directive {
    /// Fills in what the `*` arguments say; a negative width means left-aligned, a negative precision none.
    pub(super) fn resolve(&self, width: Option<i32>, precision: Option<i32>) -> Layout {
        let fixed = |width: Option<Width>| match width {
            Some(Width::Fixed(width)) => Some(width),
            _ => None,
        };
        Layout {
            left: self.flags.left || width.is_some_and(|width| width < 0),
            zeros: self.flags.zeros,
            alternate: self.flags.alternate,
            plus: self.flags.before_positive(),
            width: width
                .map(|width| width.unsigned_abs() as usize)
                .or(fixed(self.width))
                .unwrap_or(0)
                .min(WIDEST),
            precision: match precision {
                Some(precision) => usize::try_from(precision).ok(),
                None => fixed(self.precision),
            },
            length: self.length,
            conversion: self.conversion,
        }
        .bounded()
    }
}

impl Flags {
    fn before_positive(self) -> &'static [u8] {
        match self {
            Flags { plus: true, .. } => b"+",
            Flags { space: true, .. } => b" ",
            _ => b"",
        }
    }
}

impl Layout {
    fn bounded(mut self) -> Layout {
        let is_text = matches!(self.conversion, Conversion::Text);
        self.precision = self.precision.map(|precision| {
            if is_text {
                precision
            } else {
                precision.min(WIDEST)
            }
        });
        self
    }

    /// Returns whether nothing but the conversion is asked for.
    pub(super) fn is_plain(&self) -> bool {
        self.width == 0 && self.precision.is_none() && !self.alternate && self.plus.is_empty()
    }
}

impl Length {
    /// The signed type of the length, given the recorded kernel's `long`.
    pub(super) fn kind(self, long: usize) -> IntType {
        let size = match self {
            Length::Char => 1,
            Length::Short => 2,
            Length::Int => 4,
            Length::Long => long,
            Length::LongLong => 8,
        };
        IntType::new(size, true)
    }
}
