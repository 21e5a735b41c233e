//! The options of `test`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::TestTask;
use super::workload::{RecorderFifos, WorkloadRun};
use crate::arguments::{flag, text};
use crate::failure::Failure;

/// The options.
pub(super) fn command() -> Command {
    Command::new("test")
        .about("Check what this machine and this build can do")
        .arg(
            Arg::new("workload")
                .long("workload")
                .short('w')
                .value_name("work")
                .help("Run a small program to record; the words are its arguments"),
        )
        .arg(
            Arg::new("list-workloads")
                .long("list-workloads")
                .action(ArgAction::SetTrue)
                .help("List the programs that -w knows"),
        )
        .arg(
            Arg::new("record-ctl")
                .long("record-ctl")
                .value_name("fifo:ctl-fifo[,ack-fifo]")
                .help("Order a recorder to record the program of -w alone, by the pipes of its --control"),
        )
        .arg(
            Arg::new("words")
                .value_name("TEST")
                .num_args(0..)
                .help("Numbers of tests, or parts of their names [default: all]; list and a part of a name"),
        )
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> Result<TestTask, Failure> {
    if flag(matches, "list-workloads") {
        return Ok(TestTask::ListWorkloads);
    }
    let words = matches.get_many::<String>("words").unwrap_or_default();
    let words: Vec<String> = words.cloned().collect();
    if let Some(name) = text(matches, "workload") {
        return workload(matches, name, words).map(TestTask::Workload);
    }
    Err(Failure::bad_option(
        "nothing to run: -w WORKLOAD is expected, or --list-workloads",
    ))
}

fn workload(
    matches: &ArgMatches,
    name: &str,
    arguments: Vec<String>,
) -> Result<WorkloadRun, Failure> {
    let workload = oxperf_workloads::find(name)
        .ok_or_else(|| Failure::new(format!("No workload found: {name}")))?;
    let recorder = text(matches, "record-ctl").map(RecorderFifos::parse);
    Ok(WorkloadRun {
        workload,
        arguments,
        recorder: recorder.transpose()?,
    })
}
