//! Whole runs of a measurement: what each run counted and how long it took, to be kept and compared.

use std::time::Duration;

use oxperf_abi::CountReading;

use super::statistics::Statistics;

/// The runs of one measurement.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MeasuredRuns {
    /// How the measurement was made.
    pub origin: RunOrigin,
    /// The runs, in their order.
    pub runs: Vec<MeasuredRun>,
    /// The events that were counted in all of them.
    pub events: Vec<MeasuredEvent>,
}

impl MeasuredRuns {
    /// Adds a run that is over. Events are those of the first run; `events` has what each of its sites says, and each
    /// counter is scaled up for the time in which it did not run, if `scales`.
    pub fn push(&mut self, run: MeasuredRun, readings: &[Vec<Option<CountReading>>], scales: bool) {
        self.runs.push(run);
        for (index, event) in self.events.iter_mut().enumerate() {
            let sites = readings.get(index).map_or(&[][..], Vec::as_slice);
            let count = RunCount::of_sites(sites, event.scale, scales);
            event.counts.push(count);
        }
    }
}

/// The circumstances of a measurement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunOrigin {
    /// The version of the program that measured.
    pub program_version: String,
    /// Its command line, or the words for it.
    pub command_line: Vec<String>,
    /// The target in words, as above a table of counts.
    pub subject: String,
    /// Seconds since 1970 at the start.
    pub started: u64,
    /// Network name of the host.
    pub host: Option<String>,
    /// Kernel release of the host.
    pub kernel: Option<String>,
    /// Architecture of the host.
    pub architecture: Option<String>,
    /// The host's processor.
    pub processor: Option<String>,
    /// The number of CPUs that were online.
    pub cpus: Option<u64>,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MeasuredRun {
    /// From the start of counting to the end of the target.
    pub elapsed: Duration,
    /// Processor time in user mode, of a program that was run.
    pub user: Option<Duration>,
    /// Processor time in the kernel, of a program that was run.
    pub system: Option<Duration>,
    /// The exit code of that program.
    pub exit_code: Option<i32>,
    /// The signal that ended that program.
    pub signal: Option<i32>,
}

/// An event with its counts in all runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MeasuredEvent {
    /// Its name.
    pub name: String,
    /// The PMU that counts it.
    pub pmu: String,
    /// The control group that it is counted in.
    pub cgroup: Option<String>,
    /// The unit of its values.
    pub unit: String,
    /// The factor from a count to that unit.
    pub scale: f64,
    /// Something here counts it.
    pub is_supported: bool,
    /// The reason why it is not counted, or why another event took its place.
    pub reason: Option<String>,
    /// What each run counted.
    pub counts: Vec<RunCount>,
}

impl MeasuredEvent {
    /// Mean and deviation over the runs that counted it.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = Statistics::default();
        let values = self.counts.iter().filter_map(|count| count.value);
        values.for_each(|value| statistics.add(value));
        statistics
    }
}

/// The count of an event in one run: all of its counters together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RunCount {
    /// The count in the event's unit, scaled up for shared counters; none where nothing was counted.
    pub value: Option<f64>,
    /// The count as the counters have it.
    pub counted: u64,
    /// Nanoseconds enabled.
    pub enabled: u64,
    /// Nanoseconds counting.
    pub running: u64,
}

impl RunCount {
    /// Adds up what the sites of an event say; a counter that could not be read says nothing.
    fn of_sites(sites: &[Option<CountReading>], scale: f64, scales: bool) -> RunCount {
        let read = || sites.iter().flatten().copied();
        let sum = read().fold(CountReading::default(), CountReading::plus);
        let shown = |reading: CountReading| if scales { reading.scaled() } else { reading };
        let value = read().map(shown).map(|reading| reading.value as f64);
        let value: f64 = value.sum();
        RunCount {
            value: sum.is_counted().then_some(value * scale),
            counted: sum.value,
            enabled: sum.enabled,
            running: sum.running,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: u64, enabled: u64, running: u64) -> Option<CountReading> {
        Some(CountReading {
            value,
            enabled,
            running,
        })
    }

    #[test]
    fn counters_of_an_event_are_added_up_and_what_was_not_counted_is_no_zero() {
        let mut runs = MeasuredRuns {
            events: vec![MeasuredEvent {
                scale: 0.5,
                ..MeasuredEvent::default()
            }],
            ..MeasuredRuns::default()
        };
        let run = MeasuredRun::default();
        runs.push(
            run,
            &[vec![reading(10, 4, 2), None, reading(6, 4, 4)]],
            true,
        );
        runs.push(run, &[vec![reading(10, 4, 2)]], false);
        runs.push(run, &[vec![reading(0, 4, 0)]], true);
        runs.push(run, &[], true);
        let counts = &runs.events[0].counts;
        let values: Vec<Option<f64>> = counts.iter().map(|count| count.value).collect();
        assert_eq!(values, [Some(13.0), Some(5.0), None, None]);
        assert_eq!(
            (counts[0].counted, counts[0].enabled, counts[0].running),
            (16, 8, 6)
        );
        let statistics = runs.events[0].statistics();
        assert_eq!((statistics.number(), statistics.mean()), (2, 9.0));
    }
}
