//! The clock that the user chose: its resolution, and a moment by it and by the wall clock.

use std::io;
use std::time::Duration;

use oxperf_data::FeatureSet;
use oxperf_data::features::{ClockData, ClockResolution};
use oxperf_sys::clock::KernelClock;

use crate::error::CaptureError;

/// What is known of the clock of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClockFacts {
    resolution: ClockResolution,
    moment: ClockData,
}

impl ClockFacts {
    /// Adds the features.
    pub(crate) fn add_to(self, features: &mut FeatureSet) {
        features.insert(&self.resolution);
        features.insert(&self.moment);
    }
}

/// Asks a clock for the facts.
///
/// # Errors
/// The kernel has no such clock.
pub(crate) fn clock_facts(clock: KernelClock) -> Result<ClockFacts, CaptureError> {
    let read = || -> io::Result<ClockFacts> {
        Ok(ClockFacts {
            resolution: ClockResolution {
                nanoseconds: nanoseconds(clock.resolution()?),
            },
            moment: ClockData {
                clock: clock.id().cast_unsigned(),
                wall_nanoseconds: nanoseconds(KernelClock::Realtime.now()?),
                clock_nanoseconds: nanoseconds(clock.now()?),
            },
        })
    };
    read().map_err(|source| CaptureError::Clock {
        number: clock.id(),
        source,
    })
}

/// Nanoseconds as far as 64 bits hold them, some 584 years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_known_by_its_number() {
        let facts = clock_facts(KernelClock::Boottime).unwrap();
        assert_eq!(facts.moment.clock, 7);
        assert!(facts.resolution.nanoseconds > 0 && facts.moment.wall_nanoseconds > 1 << 60);
        let refused = clock_facts(KernelClock::Numbered(-1)).unwrap_err();
        assert!(matches!(refused, CaptureError::Clock { number: -1, .. }));
    }
}
