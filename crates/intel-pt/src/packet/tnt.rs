//! Taken and not taken: the outcomes of conditional branches and compressed returns.

/// One to six outcomes in a byte, or up to 47 in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tnt {
    count: u8,
    long: bool,
    bits: u64,
}

/// Number and bits of the outcomes in a byte, by its upper seven bits.
const OF_BYTES: [(u8, u8); 128] = {
    let mut table = [(0, 0); 128];
    let mut stopped = 2u8;
    while stopped < 128 {
        let count = stopped.ilog2() as u8;
        table[stopped as usize] = (count, stopped & !(1 << count));
        stopped += 1;
    }
    table
};

impl Tnt {
    /// Outcomes that fit into the form of one byte.
    pub const SHORT_MAX: u8 = 6;
    /// Outcomes that fit into the form of eight bytes.
    pub const LONG_MAX: u8 = 47;

    /// The low `count` bits of `bits`, the oldest outcome highest, in the form of one byte; `None` unless `count` is
    /// 1 to 6.
    pub const fn short(bits: u64, count: u8) -> Option<Tnt> {
        match count {
            1..=Tnt::SHORT_MAX => Some(Tnt::of(false, count, bits)),
            _ => None,
        }
    }

    /// The low `count` bits of `bits`, the oldest outcome highest, in the form of eight bytes; `None` if `count` is
    /// above 47. Such a packet may be empty.
    pub const fn long(bits: u64, count: u8) -> Option<Tnt> {
        match count {
            0..=Tnt::LONG_MAX => Some(Tnt::of(true, count, bits)),
            _ => None,
        }
    }

    const fn of(long: bool, count: u8, bits: u64) -> Tnt {
        Tnt {
            count,
            long,
            bits: bits & ((1 << count) - 1),
        }
    }

    /// The outcomes of a byte that is neither PAD nor an extension: even, not 0, not 2.
    #[inline]
    pub(crate) const fn from_byte(byte: u8) -> Tnt {
        let (count, bits) = OF_BYTES[(byte >> 1) as usize];
        Tnt {
            count,
            long: false,
            bits: bits as u64,
        }
    }

    /// The outcomes of 48 bits with a stop bit. Without any stop bit there are no outcomes.
    #[inline]
    pub(super) const fn from_stopped(value: u64) -> Tnt {
        let count = 63u32.saturating_sub(value.leading_zeros()) as u8;
        Tnt::of(true, count, value)
    }

    /// The outcomes below a stop bit.
    #[inline]
    pub(super) const fn stopped(self) -> u64 {
        self.bits() | 1 << self.count()
    }

    /// Number of outcomes.
    #[inline]
    pub const fn count(self) -> u8 {
        self.count
    }

    /// The outcomes, 1 for taken: the newest in bit 0, the oldest in bit `count() - 1`.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The outcomes with the oldest in bit 63, so that shifting left consumes them in order.
    #[inline]
    pub const fn left_aligned(self) -> u64 {
        self.bits() << (63 - self.count()) << 1
    }

    /// True if the packet has the form of eight bytes.
    #[inline]
    pub const fn is_long(self) -> bool {
        self.long
    }

    /// The outcomes in the order in which they happened; `true` is taken.
    pub fn outcomes(self) -> impl Iterator<Item = bool> {
        (0..self.count())
            .rev()
            .map(move |bit| self.bits() >> bit & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_come_in_order() {
        let tnt = Tnt::from_byte(0b0000_1100);
        assert_eq!(tnt.outcomes().collect::<Vec<_>>(), [true, false]);
        assert_eq!((tnt.left_aligned(), tnt.is_long()), (1 << 63, false));
        assert_eq!(Tnt::from_byte(0xfe).bits(), 0b11_1111);
    }

    #[test]
    fn the_long_form_may_be_empty() {
        assert_eq!(
            (
                Tnt::from_stopped(1).count(),
                Tnt::from_stopped(1).left_aligned()
            ),
            (0, 0)
        );
        assert_eq!(Tnt::from_stopped(0).count(), 0);
        assert_eq!(Tnt::from_stopped((1 << 48) - 1).count(), 47);
        assert_eq!(Tnt::long(0, 48), None);
        assert_eq!(Tnt::short(0, 0), None);
    }
}
