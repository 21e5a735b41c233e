//! The events to record, from `-e` and what this machine has.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

use oxperf_capture::EventRequest;
use oxperf_pmu::{
    Catalogue, DrmPmus, HwmonPmus, ResolvedEvent, SyntaxError, SystemPmus, TracepointSource, parse,
    resolve,
};
use oxperf_pmu_events::EventTables;
use oxperf_sys::Sysfs;
use oxperf_tracepoint::{SystemTracefs, Tracefs, TracepointError};

use super::{traces, unknown_bits};
use crate::failure::Failure;
use crate::output::print_error;

/// The event that is recorded when the user names none.
const DEFAULT_EVENT: &str = "cycles:P";

/// The files of all processes are looked at for graphics devices only where a text can mean one: it takes time.
pub(in crate::cmd) fn may_mean_graphics(text: &str) -> bool {
    text.contains("drm")
}

/// Where this machine's events come from.
pub(in crate::cmd) struct EventSources {
    pmus: SystemPmus,
    tracepoints: Tracepoints,
    sensors: HwmonPmus,
    graphics: Option<DrmPmus>,
}

impl EventSources {
    /// Those of the machine that `sysfs` describes, as far as `texts` can mean them.
    pub(in crate::cmd) fn new(texts: &[String], sysfs: &Sysfs) -> EventSources {
        let graphics = texts.iter().any(|text| may_mean_graphics(text));
        EventSources {
            pmus: SystemPmus::below(sysfs.root()),
            tracepoints: Tracepoints::of_kernel(),
            sensors: HwmonPmus::below(sysfs.root()),
            graphics: graphics.then(DrmPmus::of_machine),
        }
    }

    /// The events by name.
    pub(in crate::cmd) fn catalogue<'a>(&'a self, tables: &'a EventTables) -> Catalogue<'a> {
        let catalogue = Catalogue::new(&self.pmus, &self.tracepoints)
            .with_tables(tables)
            .with(&self.sensors);
        match &self.graphics {
            Some(graphics) => catalogue.with(graphics),
            None => catalogue,
        }
    }
}

/// Looks up the events that the user named, or the default event, in a catalogue.
///
/// # Errors
/// A text that cannot be read, or names nothing here.
pub(in crate::cmd) fn requested_in(
    texts: &[String],
    catalogue: &Catalogue<'_>,
) -> Result<Vec<EventRequest>, Failure> {
    if texts.is_empty() {
        return default_event(catalogue);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    look_up_in(&texts, catalogue)
}

/// The default event. Where one kind of core counts it, its name says on which.
fn default_event(catalogue: &Catalogue<'_>) -> Result<Vec<EventRequest>, Failure> {
    let mut requests = look_up_in(&[DEFAULT_EVENT], catalogue)?;
    if let ([core], [request]) = (&*catalogue.core_names(), &mut *requests) {
        request.name = format!("{core}/cycles/P");
    }
    Ok(requests)
}

/// Looks up event texts. Leaders are named by their sites among all events.
pub(in crate::cmd) fn look_up_in(
    texts: &[&str],
    catalogue: &Catalogue<'_>,
) -> Result<Vec<EventRequest>, Failure> {
    let mut requests = Vec::with_capacity(texts.len());
    for text in texts {
        let events = resolved(text, catalogue)?;
        if events.iter().any(|event| event.regrouped) {
            print_error("WARNING: events were regrouped to match PMUs");
        }
        add(events, &mut requests);
    }
    Ok(requests)
}

/// Looks up the events of a text that no user wrote, and adds them to `requests`.
pub(in crate::cmd) fn look_up_planned(
    text: &str,
    catalogue: &Catalogue<'_>,
    requests: &mut Vec<EventRequest>,
) -> Result<(), Failure> {
    add(resolved(text, catalogue)?, requests);
    Ok(())
}

fn resolved(text: &str, catalogue: &Catalogue<'_>) -> Result<Vec<ResolvedEvent>, Failure> {
    let events = parse(text).and_then(|list| resolve(&list, catalogue));
    let events = events.map_err(|error| Failure::bad_option(with_advice(&error)))?;
    for warning in events.iter().flat_map(unknown_bits::warnings) {
        print_error(&warning);
    }
    Ok(events)
}

fn add(events: Vec<ResolvedEvent>, requests: &mut Vec<EventRequest>) {
    let before = requests.len();
    for event in events {
        let mut request = EventRequest::from_resolved(event);
        request.leader = request.leader.map(|leader| leader + before);
        requests.push(request);
    }
}

/// The fault, and what to do about it.
fn with_advice(error: &SyntaxError) -> String {
    let usual = || "Run 'perf list' for a list of valid events".to_owned();
    format!("{error}\n{}", traces::missing(error).unwrap_or_else(usual))
}

/// The kernel's tracepoints, or why they cannot be seen.
pub(in crate::cmd) struct Tracepoints {
    tracefs: Result<SystemTracefs, TracepointError>,
    /// The numbers that were read, by system and event.
    numbers: RefCell<HashMap<(String, String), u64>>,
}

impl Tracepoints {
    /// Those of the running kernel.
    pub(in crate::cmd) fn of_kernel() -> Tracepoints {
        Tracepoints {
            tracefs: SystemTracefs::find(),
            numbers: RefCell::default(),
        }
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&SystemTracefs) -> Result<T, TracepointError>,
    ) -> io::Result<T> {
        match &self.tracefs {
            Ok(tracefs) => question(tracefs).map_err(to_io),
            Err(TracepointError::Read { error, .. }) => Err(error.kind().into()),
            Err(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn to_io(error: TracepointError) -> io::Error {
    match error {
        TracepointError::Read { error, .. } => error,
        TracepointError::Unknown { .. } => io::ErrorKind::NotFound.into(),
        other => io::Error::other(other),
    }
}

impl TracepointSource for Tracepoints {
    fn root(&self) -> String {
        "/sys/kernel/tracing".to_owned()
    }

    fn systems(&self) -> io::Result<Vec<String>> {
        self.ask(SystemTracefs::systems)
    }

    fn events(&self, system: &str) -> io::Result<Vec<String>> {
        self.ask(|tracefs| tracefs.described_events(system))
    }

    fn id(&self, system: &str, event: &str) -> io::Result<u64> {
        let name = (system.to_owned(), event.to_owned());
        if let Some(known) = self.numbers.borrow().get(&name) {
            return Ok(*known);
        }
        let number = self.ask(|tracefs| tracefs.id(system, event))?;
        self.numbers.borrow_mut().insert(name, number);
        Ok(number)
    }
}
