//! The unit in which weights are shown: time, or occurrences of an event.

use oxperf_profile::EventProfile;

/// The unit of the weights of a tree or a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightUnit<'a> {
    /// Nanoseconds, as the periods of cpu-clock, task-clock and offcpu-time are.
    Nanoseconds,
    /// Occurrences of the event of this name.
    Count(&'a str),
}

impl<'a> WeightUnit<'a> {
    /// The unit of an event's periods, by its name: clocks count nanoseconds, everything else itself.
    ///
    /// ```
    /// use oxperf_present::text::unit::WeightUnit;
    /// assert_eq!(WeightUnit::of_event("task-clock:u"), WeightUnit::Nanoseconds);
    /// assert_eq!(WeightUnit::of_event("cpu-clock + offcpu-time"), WeightUnit::Nanoseconds);
    /// assert_eq!(WeightUnit::of_event("cycles"), WeightUnit::Count("cycles"));
    /// ```
    pub fn of_event(name: &'a str) -> Self {
        match EventProfile::counts_time(name) {
            true => WeightUnit::Nanoseconds,
            false => WeightUnit::Count(name),
        }
    }
}
