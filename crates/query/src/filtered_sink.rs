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
}

impl<'a, S: Sink> FilteredSink<'a, S> {
    /// Stands in front of `sink`.
    pub fn new(filter: &'a Filter, switching: Switching, sink: &'a mut S) -> FilteredSink<'a, S> {
        FilteredSink {
            filter,
            switching: Some(switching).filter(|switching| !switching.takes_all()),
            sink,
        }
    }
}

impl<S: Sink> Sink for FilteredSink<'_, S> {
    type Inner = S;

    #[inline]
    fn inner(&mut self) -> Option<&mut S> {
        Some(self.sink)
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if let Some(switching) = &mut self.switching {
            // A sample of another time switches nothing, one of another CPU does.
            if !self.filter.takes_time(event) || !switching.takes(event.event) {
                return ControlFlow::Continue(());
            }
        }
        if self.filter.takes(machine, event) {
            self.sink.sample(machine, event)
        } else {
            ControlFlow::Continue(())
        }
    }
}
