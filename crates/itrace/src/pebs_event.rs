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
    /// The period of its samples; 0 where the kernel chose it, as it is not known then.
    pub(crate) fn period(&self) -> u64 {
        if self.attr.flags.contains(AttrFlags::FREQ) {
            0
        } else {
            self.attr.sample_period
        }
    }

    /// The event with a number, if its records are in the trace.
    pub(crate) fn at(events: &EventTable, index: EventIndex) -> Option<PebsEvent> {
        let attr = events.events().get(index.0)?.attr;
        attr.flags
            .contains(AttrFlags::AUX_OUTPUT)
            .then_some(PebsEvent { index, attr })
    }
}

/// The events whose PEBS records are in the trace of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PebsEvents {
    pub(crate) first: PebsEvent,
    /// There is no other.
    pub(crate) is_only: bool,
}

impl PebsEvents {
    /// Finds the events; `None` if there are none.
    pub(crate) fn find(events: &EventTable) -> Option<PebsEvents> {
        let mut all =
            (0..events.events().len()).filter_map(|at| PebsEvent::at(events, EventIndex(at)));
        Some(PebsEvents {
            first: all.next()?,
            is_only: all.next().is_none(),
        })
    }
}
