//! The crystal clock: TMA ties it to the time-stamp counter, MTC packets have its progress.

use crate::config::{Config, Ratio};
use crate::packet::Tma;

/// The conversion from ticks of the crystal clock to ticks of the time-stamp counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    ratio: Option<Ratio>,
    /// Bits of the crystal clock below those of an MTC packet.
    shift: u8,
}

impl Rate {
    pub(super) fn new(config: &Config) -> Rate {
        let ratio = config.tsc_to_crystal.filter(|ratio| ratio.denominator != 0);
        Rate {
            ratio,
            shift: config.mtc_shift.min(15),
        }
    }

    /// The part of a count of the crystal clock that MTC packets do not hold.
    pub(super) fn rest(self, crystal: u64) -> u64 {
        crystal & ((1 << self.shift) - 1)
    }

    /// Ticks of the time-stamp counter in so many of the crystal clock.
    fn ticks(self, crystal: u64) -> u64 {
        let Some(Ratio {
            numerator,
            denominator,
        }) = self.ratio
        else {
            return 0;
        };
        let ticks = u128::from(crystal) * u128::from(numerator) / u128::from(denominator);
        ticks as u64
    }
}

/// The state of the crystal clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crystal {
    /// The time-stamp counter at the last TMA packet, less the part of an MTC period that had passed.
    base: u64,
    /// Ticks of the crystal clock since then.
    passed: u64,
    /// The last MTC payload, or what it would have been.
    mtc: u8,
    /// TMA has 16 bits only: the first MTC packet completes the upper ones.
    incomplete: bool,
}

impl Crystal {
    /// The state at a TMA packet that follows a TSC packet of this value.
    pub(super) fn tied(rate: Rate, tsc: u64, tma: Tma) -> Option<Crystal> {
        rate.ratio?;
        let ctc = u64::from(tma.ctc());
        let base = tsc
            .wrapping_sub(u64::from(tma.fast()))
            .wrapping_sub(rate.ticks(rate.rest(ctc)));
        Some(Crystal {
            base,
            passed: 0,
            mtc: (ctc >> rate.shift) as u8,
            incomplete: true,
        })
    }

    /// The time from which it counts, and the MTC payload then.
    pub(super) fn tie(self) -> (u64, u8) {
        (self.base, self.mtc)
    }

    /// The time at an MTC packet.
    pub(super) fn advance(&mut self, rate: Rate, mtc: u8) -> u64 {
        if rate.shift > 8 && self.incomplete {
            self.incomplete = false;
            self.complete(rate, mtc);
        }
        let periods = match mtc.wrapping_sub(self.mtc) {
            0 => 256,
            some => u64::from(some),
        };
        self.mtc = mtc;
        self.passed = self.passed.wrapping_add(periods << rate.shift);
        self.base.wrapping_add(rate.ticks(self.passed))
    }

    /// Takes the upper bits that TMA could not hold from the first MTC packet, which is at most one period later.
    fn complete(&mut self, rate: Rate, mtc: u8) {
        let known = u8::MAX >> (rate.shift - 8);
        let mut upper = mtc & !known;
        if self.mtc & known > mtc & known {
            upper = upper.wrapping_sub(known.wrapping_add(1));
        }
        self.mtc = upper | self.mtc & known;
    }
}
