//! The integer types of C, as far as a value's meaning depends on them.

use crate::bytes::WordSize;
use crate::field::extend_sign;
use crate::format::type_size;

/// A C integer type: how many bytes, and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntType {
    size: u8,
    signed: bool,
}

impl IntType {
    pub(super) const INT: IntType = IntType {
        size: 4,
        signed: true,
    };
    pub(super) const U64: IntType = IntType {
        size: 8,
        signed: false,
    };

    /// The type of `size` bytes; sizes that C does not have count as eight.
    pub(super) fn new(size: usize, signed: bool) -> IntType {
        let size = match size {
            1 => 1,
            2 => 2,
            4 => 4,
            _ => 8,
        };
        IntType { size, signed }
    }

    /// The type of an integer literal: the first that holds it, `long` being eight bytes.
    pub(super) fn of_literal(value: u64, any_sign: bool, suffix: &str) -> IntType {
        let unsigned = suffix.contains('u');
        let wide = suffix.contains('l') || value > u64::from(u32::MAX);
        let fits_int = value <= i32::MAX as u64;
        match (wide, unsigned) {
            (false, false) if fits_int => IntType::INT,
            (false, true) => IntType::new(4, false),
            (false, false) if any_sign => IntType::new(4, false),
            _ => IntType::new(8, !unsigned && value <= i64::MAX as u64),
        }
    }

    /// The type that words like `unsigned long` or `u8` name; pointers are words without sign.
    pub(super) fn named(words: &str, word: WordSize) -> Option<IntType> {
        let unsigned = |name: &str| {
            let name = name.trim_start_matches("__");
            name.ends_with('*')
                || name.starts_with('u')
                || name.contains("unsigned")
                || name == "bool"
        };
        let size = match words
            .trim_start_matches("const ")
            .trim_start_matches("unsigned ")
        {
            "long" | "long int" | "size_t" | "ssize_t" => usize::from(word.bytes()),
            name if name.ends_with('*') => usize::from(word.bytes()),
            name => type_size(name)?,
        };
        let no_sign = ["size_t", "gfp_t", "dev_t", "sector_t", "ino_t"].contains(&words);
        Some(IntType::new(size, !unsigned(words) && !no_sign))
    }

    pub(super) fn size(self) -> usize {
        usize::from(self.size)
    }

    pub(super) fn signed(self) -> bool {
        self.signed
    }

    /// The type this one is computed in: at least an `int`.
    pub(super) fn promoted(self) -> IntType {
        if self.size < 4 { IntType::INT } else { self }
    }

    /// The type that two operands meet in.
    pub(super) fn common(self, other: IntType) -> IntType {
        let (left, right) = (self.promoted(), other.promoted());
        match left.size.cmp(&right.size) {
            std::cmp::Ordering::Less => right,
            std::cmp::Ordering::Greater => left,
            std::cmp::Ordering::Equal => IntType {
                size: left.size,
                signed: left.signed && right.signed,
            },
        }
    }

    /// `value` cut to the type and widened again by the type's sign.
    pub(super) fn widen(self, value: u64) -> u64 {
        if self.signed {
            extend_sign(value, self.size()) as u64
        } else {
            self.cut(value)
        }
    }

    /// `value` cut to the type, without its sign.
    pub(super) fn cut(self, value: u64) -> u64 {
        if self.size == 8 {
            value
        } else {
            value & ((1 << (8 * u32::from(self.size))) - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(words: &str) -> Option<IntType> {
        IntType::named(words, WordSize::Eight)
    }

    #[test]
    fn names_give_size_and_sign() {
        assert_eq!(named("unsigned int"), Some(IntType::new(4, false)));
        assert_eq!(named("long"), Some(IntType::new(8, true)));
        assert_eq!(
            IntType::named("unsigned long", WordSize::Four),
            Some(IntType::new(4, false))
        );
        assert_eq!(named("__u16"), Some(IntType::new(2, false)));
        assert_eq!(named("s8"), Some(IntType::new(1, true)));
        assert_eq!(named("void *"), Some(IntType::U64));
        assert_eq!(named("REC"), None);
    }

    #[test]
    fn operands_meet_as_in_c() {
        let (int, unsigned, long) = (IntType::INT, IntType::new(4, false), IntType::new(8, true));
        assert_eq!(int.common(unsigned), unsigned);
        assert_eq!(unsigned.common(long), long);
        assert_eq!(IntType::new(1, false).common(IntType::new(2, false)), int);
    }

    #[test]
    fn values_are_cut_and_widened() {
        assert_eq!(IntType::INT.widen(0xffff_fffb) as i64, -5);
        assert_eq!(IntType::new(1, false).widen(0x1ff), 0xff);
        assert_eq!(IntType::INT.cut(u64::MAX), 0xffff_ffff);
    }
}
