//! The options of `stat record`: those of `stat`, with another meaning of `-o`.

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use oxperf_capture::Destination;
use oxperf_capture::count::{CountRecordOptions, StatSettings};

use super::super::arguments as stat;
use super::super::options::{CountOutput, Repeats, StatCommand};
use super::super::problem::StatProblem;
use super::super::recorded_grouping;
use crate::arguments::Invocation;
use crate::configuration::Configuration;
use crate::environment;
use crate::failure::Failure;

/// The file that is written where none is named.
const DEFAULT: &str = "perf.data";
/// The name of standard output.
const STDOUT: &str = "-";

/// The options.
pub(super) fn command() -> Command {
    stat::options_of(Command::new("record"))
        .about("Count events and write the counts to a recording")
        .override_usage("oxperf stat record [OPTIONS] [--] [COMMAND [ARGS]...]\n       oxperf stat record [OPTIONS] -a | -p PID | -t TID")
        .mut_arg("output", |output| {
            output.help("File to record to, - for standard output [default: perf.data]; the table goes to standard error")
        })
}

/// Runs `stat record`; the exit code is the workload's.
pub(super) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    match parse(matches, &invocation.configuration) {
        Ok(command) => super::super::perform(&command, &invocation.program),
        Err(problem) => {
            let path = ["stat", "record"];
            Ok(stat::report_below(
                &command(),
                &path,
                &problem,
                &invocation.program,
            ))
        }
    }
}

fn parse(matches: &ArgMatches, configuration: &Configuration) -> Result<StatCommand, StatProblem> {
    let counted = stat::parse(matches, configuration)?;
    if counted.repeats != Repeats::Times(1) {
        return Err(StatProblem::no_repeats());
    }
    Ok(recorded(counted))
}

/// The same with its counts recorded: the output that is named is the recording.
fn recorded(command: StatCommand) -> StatCommand {
    let (destination, output) = match command.output {
        CountOutput::File { path, .. } => (destination(path), CountOutput::StandardError),
        other => (destination(PathBuf::from(DEFAULT)), other),
    };
    let recording = CountRecordOptions {
        destination,
        command_line: environment::command_line(),
        settings: StatSettings {
            interval: command.options.interval,
            scales: command.scales,
            ..recorded_grouping::settings(command.grouping)
        },
    };
    let mut options = command.options;
    options.to_stream = recording.is_stream();
    StatCommand {
        options,
        output,
        // Standard output is the recording's.
        is_quiet: command.is_quiet || recording.is_stream(),
        recording: Some(recording),
        ..command
    }
}

fn destination(path: PathBuf) -> Destination {
    if path.as_os_str() == STDOUT {
        Destination::StandardOutput
    } else {
        Destination::File(path)
    }
}
