//! The kernel's tracepoints.

use crate::gather::Gathered;
use crate::{CountableEvent, EventCategory};
use oxperf_abi::EventType;
use oxperf_tracepoint::Tracefs;

/// The PMU of all tracepoints.
const TRACEPOINT: &str = "tracepoint";

/// The system of the tracer's own events.
const TRACER: &str = "ftrace";

/// Adds all tracepoints, by their names alone: everything else is in a file of each.
pub(crate) fn gather(tracefs: &dyn Tracefs, gathered: &mut Vec<Gathered>) {
    for (system, events) in tracefs.described_events().unwrap_or_default() {
        gathered.extend(events.iter().map(|event| named(&system, event)));
    }
}

fn named(system: &str, event: &str) -> Gathered {
    let name = format!("{system}:{event}");
    Gathered {
        plain_name: name.clone(),
        event: CountableEvent {
            unit: Some(TRACEPOINT.to_owned()),
            pmu_kind: Some(EventType::TRACEPOINT),
            ..CountableEvent::named(EventCategory::Tracepoint, name)
        },
        is_described: false,
        is_core: false,
        pmu: TRACEPOINT.to_owned(),
    }
}

/// Reads the description and the number of a tracepoint; other events stay as they are.
pub(crate) fn complete(event: &mut CountableEvent, tracefs: &dyn Tracefs) {
    let Some((system, name)) = event.name.split_once(':') else {
        return;
    };
    if event.category != EventCategory::Tracepoint {
        return;
    }
    let format = tracefs.format(system, name).ok();
    let format = format.map(|text| String::from_utf8_lossy(&text).into_owned());
    // Most of the tracer's own events have a number in their description and cannot be opened by it.
    let described = format.as_deref().filter(|_| system != TRACER);
    let id = described
        .and_then(number)
        .or_else(|| tracefs.id(system, name).ok());
    event.encoding = id.map(|id| format!("{TRACEPOINT}/config={id:#x}/"));
    event.long = format;
}

/// The number in a description, whose second line has it.
fn number(format: &str) -> Option<u64> {
    let line = format.lines().nth(1)?;
    line.strip_prefix("ID:")?.trim().parse().ok()
}
