//! `record`: samples of a program, of processes or of the whole machine, into a file.

mod arguments;
mod events;
mod messages;
mod target;
mod values;

use clap::{ArgMatches, Command};
use oxperf_capture::{CaptureError, Destination, Outcome, RecordOptions};

use super::buildid_cache;
use crate::failure::{Failure, code};
use crate::output::print_error;
use messages::Messages;

/// perf's exit code for arguments that contradict each other.
const CONTRADICTION: i32 = 234;
/// perf's exit code when no task of the target exists.
const NO_TASK: i32 = 244;

/// The options.
pub(crate) fn command() -> Command {
    arguments::command()
}

/// Runs `record`; the exit code is the workload's. A workload that a signal ended ends this program by the same.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    match perform(matches, program, |_| ())? {
        Performed::Recorded(outcome) => end_as(&outcome),
        Performed::Refused(exit) => Ok(exit),
    }
}

/// How an attempt to record went.
pub(super) enum Performed {
    /// There is a recording.
    Recorded(Outcome),
    /// The reason is told; only the exit code is left.
    Refused(i32),
}

/// Records as the arguments say, with what `adjust` changes about them.
pub(super) fn perform(
    matches: &ArgMatches,
    program: &str,
    adjust: impl FnOnce(&mut RecordOptions),
) -> Result<Performed, Failure> {
    let mut options = match arguments::options(matches) {
        Ok(options) => options,
        Err(problem) => return problem.report().map(Performed::Refused),
    };
    adjust(&mut options.record);
    let mut messages = Messages::new(matches, program);
    options
        .warnings
        .iter()
        .for_each(|warning| messages.warn(warning));
    let requests = events::requested(matches)?;
    match oxperf_capture::record(&options.record, requests, &mut messages) {
        Ok(outcome) => {
            messages.summary(&outcome);
            fill_cache(matches, &outcome);
            Ok(Performed::Recorded(outcome))
        }
        Err(CaptureError::NoSuchProcess) => {
            print_error(&CaptureError::NoSuchProcess.to_string());
            Ok(Performed::Refused(NO_TASK))
        }
        Err(error) => Err(Failure::new(error.to_string())),
    }
}

/// Keeps the binaries that were hit for readers to come: programs are built anew and packages updated.
fn fill_cache(matches: &ArgMatches, outcome: &Outcome) {
    let Destination::File(path) = &outcome.output else {
        return;
    };
    if matches.get_flag("no-buildid") || matches.get_flag("no-buildid-cache") {
        return;
    }
    if let Err(failure) = buildid_cache::fill(matches, &path.to_string_lossy()) {
        print_error(&format!(
            "Warning: the binaries were not put into the cache: {failure}"
        ));
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

/// What is wrong with the arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Problem {
    /// An option's value.
    Value(String),
    /// Options that exclude each other.
    Contradiction(String),
    /// A target that cannot exist.
    NoTask(String),
}

impl Problem {
    fn report(self) -> Result<i32, Failure> {
        let (message, exit) = match self {
            Problem::Value(message) => (message, code::BAD_OPTION),
            Problem::Contradiction(message) => (message, CONTRADICTION),
            Problem::NoTask(message) => (message, NO_TASK),
        };
        print_error(&message);
        Ok(exit)
    }
}

#[cfg(test)]
mod tests;
