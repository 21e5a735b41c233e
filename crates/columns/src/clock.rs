//! The wall clock of a recording.

use oxperf_abi::PerfTime;
use oxperf_data::Reader;
use oxperf_data::features::{ClockData, SampleTime};

const SECOND: i64 = 1_000_000_000;

/// How a recording's clock stands to the wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WallClock {
    /// What is added to a time of the recording, in nanoseconds; `None` where nothing tells.
    pub offset: Option<i64>,
    /// The recorder noted both clocks at one moment; else the offset is a guess.
    pub exact: bool,
}

impl WallClock {
    /// What the recording tells; else its last sample was taken when its file was written last, `modified` seconds after
    /// 1970.
    pub fn of(reader: &Reader<'_>, modified: Option<i64>) -> WallClock {
        if let Some(told) = reader.features().get::<ClockData>().ok().flatten() {
            let offset = told.wall_nanoseconds.wrapping_sub(told.clock_nanoseconds);
            return WallClock {
                offset: Some(offset.cast_signed()),
                exact: true,
            };
        }
        let last = reader.features().get::<SampleTime>().ok().flatten();
        let guess = modified
            .zip(last)
            .and_then(|(modified, SampleTime { last, .. })| {
                let written = modified.checked_mul(SECOND)?;
                written.checked_sub(i64::try_from(last.0).ok()?)
            });
        WallClock {
            offset: guess,
            exact: false,
        }
    }

    /// Microseconds since 1970 at a time of the recording.
    pub fn microseconds(self, time: PerfTime) -> Option<i64> {
        let nanoseconds = time.0.cast_signed().checked_add(self.offset?)?;
        Some(nanoseconds.div_euclid(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_go_on_below_zero_and_never_overflow() {
        let clock = |offset| WallClock {
            offset,
            exact: true,
        };
        assert_eq!(clock(Some(-1500)).microseconds(PerfTime(0)), Some(-2));
        assert_eq!(clock(Some(i64::MAX)).microseconds(PerfTime(1)), None);
        assert_eq!(clock(None).microseconds(PerfTime(1)), None);
    }
}
