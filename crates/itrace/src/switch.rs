//! Context switches that the tracepoint `sched:sched_switch` recorded: older kernels have no records of them.

use oxperf_abi::{EventType, Tid};
use oxperf_data::Reader;
use oxperf_data::features::TracingDataSection as TracingBytes;
use oxperf_session::{EventIndex, EventTable};
use oxperf_tracepoint::{ByteOrder, EventFormat, FormatField, TracingData, Value};

/// The samples of `sched:sched_switch`, which name the task that runs next.
#[derive(Clone, Debug)]
pub struct SchedSwitch {
    events: Vec<EventIndex>,
    next: FormatField,
    order: ByteOrder,
}

impl SchedSwitch {
    /// Finds the tracepoint in a recording; `None` when it is not recorded, or its format is not there.
    pub(crate) fn find(reader: &Reader<'_>, events: &EventTable) -> Option<SchedSwitch> {
        let bytes = reader.features().get::<TracingBytes>().ok().flatten()?;
        let data = TracingData::decode(&bytes.0).ok()?;
        let formats = data.events().filter(|(system, _)| *system == "sched");
        let format = formats
            .filter_map(|(_, text)| EventFormat::parse(text).ok())
            .find(|f| f.name == "sched_switch")?;
        let is_switch = |attr: &oxperf_abi::EventAttr| {
            attr.kind == EventType::TRACEPOINT && attr.config == format.id
        };
        let found = events
            .events()
            .iter()
            .enumerate()
            .filter(|(_, event)| is_switch(&event.attr));
        let events: Vec<EventIndex> = found.map(|(index, _)| EventIndex(index)).collect();
        let next = format.field("next_pid")?.clone();
        (!events.is_empty()).then_some(SchedSwitch {
            events,
            next,
            order: data.order,
        })
    }

    /// The thread that runs from a sample on.
    pub(crate) fn next(&self, event: EventIndex, raw: &[u8]) -> Option<Tid> {
        if !self.events.contains(&event) {
            return None;
        }
        match self.next.value(raw, self.order)? {
            Value::Signed(tid) => i32::try_from(tid).ok().map(Tid),
            Value::Unsigned(tid) => i32::try_from(tid).ok().map(Tid),
            _ => None,
        }
    }
}
