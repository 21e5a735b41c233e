//! TSC to the time of records and back, as the kernel's parameters say.

use oxperf_abi::PerfTime;

/// The kernel's conversion: ns = zero + ticks * mult / 2^shift, in 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TscClock {
    shift: u32,
    mult: u64,
    zero: u64,
}

impl TscClock {
    /// The clock with these parameters; `None` when no conversion can be made with them.
    pub fn new(shift: u64, mult: u64, zero: u64) -> Option<TscClock> {
        // The kernel holds the shift in 16 bits, and it is at most 32 there.
        let shift = u32::try_from(shift).ok().filter(|shift| *shift < 64)?;
        (mult != 0).then_some(TscClock { shift, mult, zero })
    }

    /// The time of a moment.
    #[inline]
    pub fn time(&self, tsc: u64) -> PerfTime {
        let (whole, part) = (tsc >> self.shift, tsc & ((1 << self.shift) - 1));
        let part = part.wrapping_mul(self.mult) >> self.shift;
        PerfTime(
            self.zero
                .wrapping_add(whole.wrapping_mul(self.mult))
                .wrapping_add(part),
        )
    }

    /// The moment of a time.
    #[inline]
    pub fn tsc(&self, time: PerfTime) -> u64 {
        let since = time.0.wrapping_sub(self.zero);
        let (whole, rest) = (since / self.mult, since % self.mult);
        (whole << self.shift).wrapping_add((rest << self.shift) / self.mult)
    }

    /// Ticks in a stretch of ns.
    pub fn ticks(&self, ns: u64) -> u64 {
        let (whole, rest) = (ns / self.mult, ns % self.mult);
        (whole << self.shift).wrapping_add((rest << self.shift) / self.mult)
    }

    /// Ticks a second.
    pub fn frequency(&self) -> u64 {
        self.ticks(1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let clock = TscClock::new(31, 894_784_853, 123_456_789).unwrap();
        for time in [613_732_974_380, 613_732_976_647, 123_456_789, 1 << 60] {
            let there = clock.tsc(PerfTime(time));
            let back = clock.time(there).0;
            assert!(back <= time && time - back <= 1, "{time} {back}");
        }
        assert_eq!(clock.frequency(), 2_400_000_000);
    }

    #[test]
    fn parameters_that_convert_nothing() {
        assert_eq!(TscClock::new(31, 0, 0), None);
        assert_eq!(TscClock::new(64, 1, 0), None);
    }
}
