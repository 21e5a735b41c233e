//! Counters that no kernel has: facts about the machine, times of the measurement, sensors, graphics devices, latencies.
//!
//! Each reads as a counter of the kernel does: it grows from reading to reading. In the place of the times for which it was
//! enabled and ran it has the number of its readings, as in perf.

mod present;
mod sources;

use std::cell::Cell;
use std::time::Instant;

use oxperf_abi::CountReading;
use oxperf_sys::CpuUsage;

use super::counters::CounterPlace;
pub use present::{PresentValue, present_value};
pub(super) use sources::{OwnSource, OwnSources};

/// What is known of a run at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunMoment {
    pub(super) now: Instant,
    /// The processor time of the workload, when it has ended.
    pub(super) usage: Option<CpuUsage>,
}

/// A counter that this program reads by itself, at one site of its event.
#[derive(Debug)]
pub(super) struct OwnCounter {
    place: CounterPlace,
    source: OwnSource,
    state: Cell<OwnState>,
}

/// The state of a counter between readings.
#[derive(Clone, Copy, Default, Debug)]
struct OwnState {
    /// The sum up to the last stop or reading.
    sum: u64,
    /// The moment and the source's value since which the sum is to be continued; none while nothing is counted.
    since: Option<(Instant, u64)>,
    readings: u64,
}

impl OwnCounter {
    pub(super) fn new(place: CounterPlace, source: OwnSource) -> OwnCounter {
        OwnCounter {
            place,
            source,
            state: Cell::default(),
        }
    }

    pub(super) fn place(&self) -> CounterPlace {
        self.place
    }

    /// Begins to count, if it does not yet.
    pub(super) fn start(&self, sources: &OwnSources, moment: RunMoment) {
        let mut state = self.state.get();
        if state.since.is_none() {
            let value = sources.value(&self.source, moment).unwrap_or(0);
            state.since = Some((moment.now, value));
            self.state.set(state);
        }
    }

    /// Counts no more until it is started again.
    pub(super) fn stop(&self, sources: &OwnSources, moment: RunMoment) {
        let mut state = self.state.get();
        if !self.source.is_level() {
            self.advance(&mut state, sources, moment);
        }
        state.since = None;
        self.state.set(state);
    }

    /// The count; `None` where the machine does not tell it.
    pub(super) fn read(&self, sources: &OwnSources, moment: RunMoment) -> Option<CountReading> {
        if self.source == OwnSource::Elsewhere {
            return Some(CountReading::default());
        }
        let mut state = self.state.get();
        if self.source.is_level() {
            state.sum = state.sum.wrapping_add(sources.value(&self.source, moment)?);
        } else {
            self.advance(&mut state, sources, moment)?;
        }
        state.readings += 1;
        self.state.set(state);
        Some(CountReading {
            value: state.sum,
            enabled: state.readings,
            running: state.readings,
        })
    }

    /// Adds what was counted since the last time.
    fn advance(&self, state: &mut OwnState, sources: &OwnSources, moment: RunMoment) -> Option<()> {
        let Some((start, before)) = state.since else {
            return Some(());
        };
        let value = sources.value(&self.source, moment)?;
        let grown = match self.source {
            OwnSource::Duration => nanoseconds(moment.now, start),
            _ => value.saturating_sub(before),
        };
        state.sum = state.sum.saturating_add(grown);
        state.since = Some((moment.now, value));
        Some(())
    }
}

fn nanoseconds(now: Instant, start: Instant) -> u64 {
    let passed = now.saturating_duration_since(start).as_nanos();
    u64::try_from(passed).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
