//! The kernel's tracepoints.

use crate::gather::Gathered;
use crate::{CountableEvent, EventCategory};
use oxperf_abi::EventType;
use oxperf_tracepoint::{Tracefs, TracepointError};
use rayon::prelude::*;

/// The PMU of all tracepoints.
const TRACEPOINT: &str = "tracepoint";

/// The system of the tracer's own events.
const TRACER: &str = "ftrace";

/// Tracepoints of a system whose files one thread reads at a time: the largest system has hundreds.
const BATCH: usize = 64;

/// The tracepoints of a machine by system, by their names alone: everything else is in a file of each.
pub(crate) struct Tracepoints(Vec<OfSystem>);

/// The tracepoints of one system.
struct OfSystem {
    system: String,
    names: Vec<String>,
    events: Vec<Gathered>,
}

impl Tracepoints {
    /// Those that can be seen; none where that fails.
    pub(crate) fn gather(tracefs: &dyn Tracefs) -> Tracepoints {
        let systems = tracefs.described_systems().unwrap_or_default().into_iter();
        let systems = systems.map(|system| OfSystem::gather(system, tracefs));
        Tracepoints(systems.collect())
    }

    /// Those that can be seen, with descriptions and numbers of those that are wanted: read by all threads.
    pub(crate) fn gather_complete(
        tracefs: &(dyn Tracefs + Sync),
        is_wanted: &(dyn Fn(&CountableEvent) -> bool + Sync),
    ) -> Tracepoints {
        let systems = tracefs.described_systems().unwrap_or_default();
        let systems = systems.into_par_iter().map(|system| {
            let mut of_system = OfSystem::gather(system, tracefs);
            of_system.complete(tracefs, is_wanted);
            of_system
        });
        Tracepoints(systems.collect())
    }

    /// The events.
    pub(crate) fn into_events(self) -> impl Iterator<Item = Gathered> {
        self.0.into_iter().flat_map(|of_system| of_system.events)
    }
}

impl OfSystem {
    fn gather(system: String, tracefs: &dyn Tracefs) -> OfSystem {
        let names = tracefs.described_events(&system).unwrap_or_default();
        OfSystem {
            events: names.iter().map(|name| named(&system, name)).collect(),
            system,
            names,
        }
    }

    fn complete(
        &mut self,
        tracefs: &(dyn Tracefs + Sync),
        is_wanted: &(dyn Fn(&CountableEvent) -> bool + Sync),
    ) {
        let system = &self.system;
        let names = self.names.par_chunks(BATCH);
        let batches = names.zip(self.events.par_chunks_mut(BATCH));
        batches.for_each(|(names, events)| {
            let all = names.iter().zip(events);
            let wanted = all.filter(|(_, gathered)| is_wanted(&gathered.event));
            let (names, events): (Vec<&str>, Vec<&mut Gathered>) = wanted
                .map(|(name, gathered)| (name.as_str(), gathered))
                .unzip();
            let formats = tracefs.formats(system, &names);
            for ((gathered, name), format) in events.into_iter().zip(names).zip(formats) {
                complete(&mut gathered.event, (system, name), format, tracefs);
            }
        });
    }
}

fn named(system: &str, event: &str) -> Gathered {
    let name = [system, event].join(":");
    Gathered {
        plain_name: name.clone(),
        event: CountableEvent {
            unit: Some(TRACEPOINT.into()),
            pmu_kind: Some(EventType::TRACEPOINT),
            ..CountableEvent::named(EventCategory::Tracepoint, name)
        },
        is_described: false,
        is_core: false,
        pmu: TRACEPOINT.into(),
    }
}

/// Takes the description of a tracepoint and the number in it.
fn complete(
    event: &mut CountableEvent,
    (system, name): (&str, &str),
    format: Result<Vec<u8>, TracepointError>,
    tracefs: &dyn Tracefs,
) {
    let format = format.ok().map(into_text);
    // Most of the tracer's own events have a number in their description and cannot be opened by it.
    let described = format.as_deref().filter(|_| system != TRACER);
    let id = described
        .and_then(number)
        .or_else(|| tracefs.id(system, name).ok());
    event.encoding = id.map(|id| format!("{TRACEPOINT}/config={id:#x}/"));
    event.long = format;
}

/// The text of a file; bytes that are no text are replaced.
fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The number in a description, whose second line has it.
fn number(format: &str) -> Option<u64> {
    let line = format.lines().nth(1)?;
    line.strip_prefix("ID:")?.trim().parse().ok()
}
