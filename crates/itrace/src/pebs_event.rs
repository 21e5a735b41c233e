//! The events whose PEBS records are in the trace.

use oxperf_abi::{AttrFlags, EventAttr};
use oxperf_session::{EventIndex, EventTable};

/// A counted event whose records are in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PebsEvent {
    pub(crate) index: EventIndex,
    pub(crate) attr: EventAttr,
}

impl PebsEvent {
    /// What a sample counts for; unknown where the kernel chose the period.
    pub(crate) fn period(&self) -> u64 {
        if self.attr.flags.contains(AttrFlags::FREQ) {
            0
        } else {
            self.attr.sample_period
        }
    }

    /// The first event whose records are in the trace, and whether there is no other.
    pub(crate) fn first(events: &EventTable) -> Option<(PebsEvent, bool)> {
        let mut all =
            (0..events.events().len()).filter_map(|at| PebsEvent::at(events, EventIndex(at)));
        Some((all.next()?, all.next().is_none()))
    }

    /// The event with a number, if its records are in the trace.
    pub(crate) fn at(events: &EventTable, index: EventIndex) -> Option<PebsEvent> {
        let attr = events.events().get(index.0)?.attr;
        attr.flags
            .contains(AttrFlags::AUX_OUTPUT)
            .then_some(PebsEvent { index, attr })
    }
}
