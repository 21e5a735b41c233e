//! CLOCKID and CLOCK_DATA: the clock of a recording with `--clockid`.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// Resolution of the chosen clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClockResolution {
    /// In nanoseconds.
    pub nanoseconds: u64,
}

impl Feature for ClockResolution {
    const ID: FeatureId = FeatureId::CLOCKID;

    fn decode(
        cursor: &mut Cursor<'_>,
        _: &FeatureContext,
    ) -> Result<ClockResolution, FeatureFault> {
        Ok(ClockResolution {
            nanoseconds: cursor.u64()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.nanoseconds);
    }
}

/// One moment by the wall clock and by the recording's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClockData {
    /// The recording's clock, as `clock_gettime(2)` numbers it.
    pub clock: u32,
    /// The moment by the wall clock, nanoseconds since 1970.
    pub wall_nanoseconds: u64,
    /// The moment by the recording's clock, nanoseconds.
    pub clock_nanoseconds: u64,
}

impl ClockData {
    /// Nanoseconds that are added to a time of the recording, modulo 2^64, to get nanoseconds since 1970.
    pub const fn wall_offset(self) -> u64 {
        self.wall_nanoseconds.wrapping_sub(self.clock_nanoseconds)
    }
}

/// The only version of the layout.
const VERSION: u32 = 1;

impl Feature for ClockData {
    const ID: FeatureId = FeatureId::CLOCK_DATA;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<ClockData, FeatureFault> {
        match cursor.u32()? {
            VERSION => Ok(ClockData {
                clock: cursor.u32()?,
                wall_nanoseconds: cursor.u64()?,
                clock_nanoseconds: cursor.u64()?,
            }),
            version => Err(FeatureFault::Value {
                what: "version",
                found: u64::from(version),
            }),
        }
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(VERSION);
        encoder.u32(self.clock);
        encoder.u64(self.wall_nanoseconds);
        encoder.u64(self.clock_nanoseconds);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn clocks_round_trip() {
        round_trip(&ClockResolution { nanoseconds: 1 });
        round_trip(&ClockData {
            clock: 4,
            wall_nanoseconds: 1 << 60,
            clock_nanoseconds: 77,
        });
    }
}
