//! Time on and off the CPU as one, where a recording has both.

use oxperf_present::text::unit::WeightUnit;
use oxperf_profile::{EventProfile, Profile};

/// The event whose samples say how long threads did not run.
const OFF_CPU: &str = "offcpu-time";

/// The time of threads, whether they ran or not: the samples of a clock joined with those of time off the CPU. `None` where one
/// of both has no samples, or the samples of running threads count something else than time.
pub(crate) fn of(profile: &Profile) -> Option<EventProfile> {
    let has_samples = |event: &&EventProfile| event.sample_count > 0;
    let mut events = profile.events.iter().filter(has_samples);
    let off = events.clone().find(|event| event.name == OFF_CPU)?;
    let is_clock = |event: &&EventProfile| {
        event.name != OFF_CPU && WeightUnit::of_event(&event.name) == WeightUnit::Nanoseconds
    };
    let on = events.find(is_clock)?;
    Some(EventProfile::joined(&[on, off]))
}
