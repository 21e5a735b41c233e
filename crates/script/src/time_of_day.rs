//! The time of day that a sample was taken at, where the recorder told what its clock showed at one.

use oxperf_data::Reader;
use oxperf_data::features::ClockData;
use oxperf_present::text::calendar::CivilTime;

const SECOND: i64 = 1_000_000_000;

/// How the recording's clock stands to the time of day.
#[derive(Clone, Copy, Debug)]
pub struct TimeOfDay {
    /// What is added to a time of the recording, nanoseconds.
    offset: i64,
}

impl TimeOfDay {
    /// What the recording tells, if it does.
    pub fn of(reader: &Reader<'_>) -> Option<TimeOfDay> {
        let told = reader.features().get::<ClockData>().ok().flatten()?;
        Some(TimeOfDay {
            offset: told.wall_offset().cast_signed(),
        })
    }

    /// The time of day of a time of the recording, by this system's time zone.
    pub fn text(self, time: u64) -> String {
        let moment = time.cast_signed().wrapping_add(self.offset);
        let (seconds, rest) = (moment.div_euclid(SECOND), moment.rem_euclid(SECOND));
        let date = CivilTime::new(seconds, oxperf_sys::clock::utc_offset(seconds)).date_time();
        format!("{date}.{:06}", rest / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::TimeOfDay;

    #[test]
    fn fractions_go_on_below_the_second() {
        let text = TimeOfDay {
            offset: 1_500_000_000,
        }
        .text(600_001_999);
        assert!(text.ends_with(":02.100001"), "{text}");
    }
}
