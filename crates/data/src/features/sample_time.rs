//! SAMPLE_TIME: when the first and the last sample were taken.

use oxperf_abi::PerfTime;
use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The times that bound the samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleTime {
    /// Time of the first sample.
    pub first: PerfTime,
    /// Time of the last.
    pub last: PerfTime,
}

impl Feature for SampleTime {
    const ID: FeatureId = FeatureId::SAMPLE_TIME;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<SampleTime, FeatureFault> {
        Ok(SampleTime {
            first: PerfTime(cursor.u64()?),
            last: PerfTime(cursor.u64()?),
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.first.0);
        encoder.u64(self.last.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn times_round_trip() {
        round_trip(&SampleTime {
            first: PerfTime(5_511_949_961_000),
            last: PerfTime(u64::MAX),
        });
    }
}
