//! A sink that passes on the samples that count.

use std::ops::ControlFlow;

use oxperf_machine::Machine;
use oxperf_session::{SampleEvent, Sink};

use crate::{Filter, Switching};

/// Passes on the samples that a filter and a switch take, and everything that is no sample.
#[derive(Debug)]
pub struct FilteredSink<'a, S> {
    filter: &'a Filter,
    switching: Option<Switching>,
    sink: &'a mut S,
    /// The place of each sample of the last batch among those that the sink was handed; `None` for one that does not pass.
    passed: Vec<Option<usize>>,
}

impl<'a, S: Sink> FilteredSink<'a, S> {
    /// Stands in front of `sink`.
    pub fn new(filter: &'a Filter, switching: Switching, sink: &'a mut S) -> FilteredSink<'a, S> {
        FilteredSink {
            filter,
            switching: Some(switching).filter(|switching| !switching.takes_all()),
            sink,
            passed: Vec::new(),
        }
    }

    /// A sample with its index among those that the sink was handed before.
    fn renumbered<'e>(&self, event: &SampleEvent<'e>) -> SampleEvent<'e> {
        let index = event.prefetched;
        SampleEvent {
            prefetched: index.and_then(|index| self.passed.get(index).copied().flatten()),
            ..*event
        }
    }
}

impl<S: Sink> Sink for FilteredSink<'_, S> {
    type Inner = S;

    #[inline]
    fn inner(&mut self) -> Option<&mut S> {
        Some(self.sink)
    }

    /// Only what passes is worth while to look at before its turn.
    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        if self.filter.takes_all() {
            return self.sink.prefetch(machine, samples);
        }
        let mut passing = Vec::with_capacity(samples.len());
        self.passed.clear();
        for sample in samples {
            let passes = self.filter.takes(machine, sample);
            self.passed.push(passes.then_some(passing.len()));
            if passes {
                passing.push(*sample);
            }
        }
        self.sink.prefetch(machine, &passing);
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if let Some(switching) = &mut self.switching {
            // A sample of another time switches nothing, one of another CPU does.
            if !self.filter.takes_time(event) || !switching.takes(event.event) {
                return ControlFlow::Continue(());
            }
        }
        if !self.filter.takes(machine, event) {
            return ControlFlow::Continue(());
        }
        if event.prefetched.is_none() || self.filter.takes_all() {
            return self.sink.sample(machine, event);
        }
        self.sink.sample(machine, &self.renumbered(event))
    }
}
