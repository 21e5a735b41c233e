//! A sample that read counters stands for what they counted since their last sample: one sample of each counter.

use oxperf_abi::{EventId, ReadFormat, SampleType, Tid};
use oxperf_wire::{ReadValues, SampleLayout};
use rustc_hash::FxHashMap;

use crate::{EventTable, SessionEvent};

/// The last value of each counter, to turn running totals into periods.
#[derive(Debug, Default)]
pub(crate) struct GroupReads {
    last: FxHashMap<(EventId, Option<Tid>), u64>,
}

/// `true` if the samples of an event hold values of counters with their ids.
pub(crate) fn reads_counters(event: &SessionEvent) -> bool {
    let layout: &SampleLayout = &event.layout;
    layout.sample_type().contains(SampleType::READ)
        && event.attr.read_format.contains(ReadFormat::ID)
}

impl GroupReads {
    /// The counters that counted something since their last sample: id and period.
    pub(crate) fn periods(
        &mut self,
        values: &ReadValues<'_>,
        tid: Option<Tid>,
    ) -> Vec<(EventId, u64)> {
        let mut periods = Vec::new();
        for value in values.values() {
            let Some(id) = value.id else { continue };
            let last = self.last.insert((id, tid), value.value).unwrap_or(0);
            let period = value.value.wrapping_sub(last);
            if period != 0 {
                periods.push((id, period));
            }
        }
        periods
    }
}

/// With inheritance each thread counts for itself under one id.
pub(crate) fn counting_thread(
    events: &EventTable,
    index: crate::EventIndex,
    tid: Option<Tid>,
) -> Option<Tid> {
    let inherits = events.events()[index.0]
        .attr
        .flags
        .contains(oxperf_abi::AttrFlags::INHERIT);
    tid.filter(|_| inherits)
}
