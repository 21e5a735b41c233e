//! `record`: samples of a program, of processes or of the whole machine, into a file.

mod address_filters;
mod arguments;
pub(super) mod behind;
mod delay;
pub(super) mod events;
mod messages;
pub(in crate::cmd) mod opens;
mod sizes;
pub(super) mod target;
pub(super) mod traces;
mod unknown_bits;
mod users;
mod values;

use std::path::{Path, PathBuf};

use oxperf_capture::{
    CaptureError, Destination, EventRequest, LayoutError, Outcome, RecordOptions, RecordRequests,
    RecordedSides,
};
use oxperf_objects::Debuginfod;
use oxperf_pmu_events::EventTables;

use super::buildid_cache;
use crate::arguments::behind::BehindEvents;
use crate::cmd::Entry;
use crate::cmd::control::ControlSource;
use crate::event_tables::{self, TablesOptions};
use crate::failure::{Failure, code};
use crate::output::print_error;
use crate::resources;
use events::EventSources;
use messages::{Messages, Verbosity};

pub(super) use arguments::parse;
pub(crate) use arguments::{command, run};
pub(super) use events::{Tracepoints, may_mean_graphics};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "record",
    command,
    run,
    // Events are looked up by one thread; others are started when there is something to record.
    shares_work: false,
};

/// perf's exit code for arguments that contradict each other.
const CONTRADICTION: i32 = 234;
/// perf's exit code for what its build cannot do.
const NEEDS_BPF: i32 = 161;
/// perf's exit code when no task of the target exists.
const NO_TASK: i32 = 244;
/// perf's exit code for threads on CPUs that do not exist.
const NO_CPU: i32 = 237;

/// The options of the command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordCommand {
    /// Options of the recorder.
    pub(super) options: RecordOptions,
    /// The texts of the events; none for the default event.
    events: Vec<String>,
    /// What tracepoints must meet to be sampled, in the order of the command line.
    conditions: Vec<BehindEvents>,
    /// Lists of control groups for the events before them.
    cgroups: Vec<BehindEvents>,
    /// Where events count: on the host, in its guests.
    sides: RecordedSides,
    /// The options and events are checked, and nothing is recorded.
    dry_run: bool,
    /// Folders of tables of events.
    tables: TablesOptions,
    /// Choices made for the user, to be reported.
    warnings: Vec<String>,
    /// The same, of little consequence.
    remarks: Vec<String>,
    verbosity: Verbosity,
    /// The text of the events that begin the next file.
    switch_events: Option<String>,
    /// Where commands come from while it goes on.
    control: Option<ControlSource>,
    /// A loss is a failure.
    strict_loss: bool,
    /// The build-id cache that keeps the binaries that were hit; `None` to keep none.
    build_id_cache: Option<PathBuf>,
    /// The servers that are asked for debug files of the binaries that are kept.
    debuginfod: Option<Debuginfod>,
}

/// The end of an attempt to record.
pub(super) enum Performed {
    /// There is a recording.
    Recorded(Outcome),
    /// Nothing is recorded. What was to be said is said; only the exit code is left.
    Nothing(i32),
}

/// Records as the options say.
pub(super) fn perform(command: &RecordCommand, program: &str) -> Result<Performed, Failure> {
    let mut messages = Messages::new(
        command.verbosity,
        program,
        &command.options.output.destination,
    );
    for warning in &command.warnings {
        messages.warn(warning);
    }
    for remark in &command.remarks {
        messages.remark(remark);
    }
    messages.cpu_model();
    let tables = event_tables::of_machine(&command.tables)?;
    let sources = EventSources::new(&command.events, &command.options.sysfs);
    let catalogue = sources.catalogue(&tables);
    let requests = events::requested_in(&command.events, &catalogue);
    for problem in event_tables::problems(&tables) {
        messages.warn(&problem);
    }
    let mut requests = behind::arranged(command, &catalogue, requests?)?;
    for request in &mut requests {
        command.sides.apply(request);
    }
    traces::check(&requests)?;
    address_filters::resolve(command, &catalogue, &mut requests, &messages)?;
    let switch_events = switch_events(command, &tables)?;
    if command.dry_run {
        return Ok(Performed::Nothing(code::SUCCESS));
    }
    let control = match command
        .control
        .as_ref()
        .map(ControlSource::open)
        .transpose()
    {
        Ok(control) => control,
        Err(unopened) => {
            print_error(&unopened.to_string());
            return Ok(Performed::Nothing(code::BAD_OPTION));
        }
    };
    resources::start_threads()?;
    let requests = RecordRequests {
        events: requests,
        switch_events,
        control,
    };
    match oxperf_capture::record(&command.options, requests, &mut messages) {
        Ok(outcome) => {
            messages.summary(&outcome);
            fill_cache(command, &outcome);
            if command.strict_loss {
                messages::check_losses(&outcome)?;
            }
            Ok(Performed::Recorded(outcome))
        }
        Err(CaptureError::NoSuchProcess) => {
            print_error(&CaptureError::NoSuchProcess.to_string());
            Ok(Performed::Nothing(NO_TASK))
        }
        Err(error) => Err(Failure::with_code(error.to_string(), exit_code(&error))),
    }
}

/// The events that begin the next file.
fn switch_events(
    command: &RecordCommand,
    tables: &EventTables,
) -> Result<Vec<EventRequest>, Failure> {
    let texts = command.switch_events.as_slice();
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let sources = EventSources::new(texts, &command.options.sysfs);
    events::requested_in(texts, &sources.catalogue(tables))
}

/// perf's exit code for a recording that cannot be made.
fn exit_code(error: &CaptureError) -> i32 {
    match error {
        CaptureError::Threads(LayoutError::NoSuchMap(_) | LayoutError::NoSuchAffinity(_)) => NO_CPU,
        CaptureError::Threads(_) | CaptureError::ThreadsOfTasks => CONTRADICTION,
        CaptureError::Trace(_) => CONTRADICTION,
        CaptureError::RateLimit { .. } => code::INVALID,
        _ => code::FAILED,
    }
}

/// Keeps the binaries that were hit for readers to come: programs are built anew and packages updated.
fn fill_cache(command: &RecordCommand, outcome: &Outcome) {
    let (Some(path), Some(cache)) = (recorded_file(outcome), &command.build_id_cache) else {
        return;
    };
    if !path.is_file() && !path.is_dir() {
        return;
    }
    if let Err(failure) =
        buildid_cache::fill(cache, &path.to_string_lossy(), command.debuginfod.clone())
    {
        print_error(&format!(
            "Warning: the binaries were not put into the cache: {failure}"
        ));
    }
}

/// The file that was written, of several the last one; `None` for a stream.
pub(super) fn recorded_file(outcome: &Outcome) -> Option<&Path> {
    match (&outcome.name, &outcome.output) {
        (Some(name), _) => Some(name),
        (None, Destination::File(path) | Destination::Directory(path, _)) => Some(path),
        (None, Destination::StandardOutput) => None,
    }
}

/// Ends by the signal that ended the workload or this program, if any; else gives the workload's exit code.
pub(super) fn end_as(outcome: &Outcome) -> Result<i32, Failure> {
    if let Some(signal) = outcome.ending.signal_to_raise() {
        oxperf_sys::kill_self(signal)
            .map_err(|error| Failure::new(format!("cannot end by signal {signal}: {error}")))?;
    }
    Ok(outcome.ending.exit_code())
}

/// A fault in the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ArgumentProblem {
    /// An option's value.
    Value(String),
    /// Options that exclude each other.
    Contradiction(String),
    /// A target that cannot exist.
    NoTask(String),
    /// Something that perf does only with BPF programs.
    NeedsBpf(String),
    /// What perf refuses as it does a recording that fails.
    Failed(String),
}

impl ArgumentProblem {
    /// Prints the fault; gives the exit code.
    pub(super) fn report(self) -> Result<i32, Failure> {
        let (message, exit) = match self {
            ArgumentProblem::Value(message) => (message, code::BAD_OPTION),
            ArgumentProblem::Contradiction(message) => (message, CONTRADICTION),
            ArgumentProblem::NoTask(message) => (message, NO_TASK),
            ArgumentProblem::NeedsBpf(message) => (message, NEEDS_BPF),
            ArgumentProblem::Failed(message) => (message, code::FAILED),
        };
        print_error(&message);
        Ok(exit)
    }
}

#[cfg(test)]
mod tests;
