//! The options of `test`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use std::path::PathBuf;

use super::TestTask;
use super::case::{CASE, Objects, OneCase};
use super::report::Verbosity;
use super::run::{Place, TestRun};
use super::selection::{Case, Selection};
use super::workload::{RecorderFifos, WorkloadRun};
use crate::arguments::{file, flag, text};
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
        .args(options_of_runs())
        .arg(
            Arg::new(CASE)
                .long(CASE)
                .value_name("N")
                .hide(true)
                .help("Run one check and print its outcome"),
        )
        .arg(
            Arg::new("words")
                .value_name("test")
                .num_args(0..)
                .help("Numbers of tests, or parts of their names [default: all]; list and a part of a name"),
        )
}

fn options_of_runs() -> [Arg; 9] {
    let with_value =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    let switch = |name: &'static str, short, help| {
        Arg::new(name)
            .long(name)
            .short(short)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    [
        switch(
            "dont-fork",
            'F',
            "Run the checks in this process, one after another",
        ),
        switch("sequential", 'S', "Run one check after another"),
        with_value(
            "junit",
            "file",
            "Write the outcomes as JUnit XML [default: test.xml]",
        )
        .short('j')
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("test.xml"),
        with_value(
            "runs-per-test",
            "n",
            "Run each check so many times [default: 1]",
        )
        .short('r')
        .value_parser(clap::value_parser!(u32).range(1..)),
        with_value(
            "skip",
            "tests",
            "Leave out checks, by numbers with commas between",
        )
        .short('s'),
        Arg::new("verbose")
            .long("verbose")
            .short('v')
            .action(ArgAction::Count)
            .help("Show the notes of checks that fail; twice: of all"),
        with_value(
            "dso",
            "dso",
            "Object of the check 'Symbols' [default: this program]",
        ),
        with_value(
            "failure-snippet-lines",
            "n",
            "Last lines of the notes of a check that fails [default: 10]",
        )
        .value_parser(clap::value_parser!(usize)),
        with_value("objdump", "path", "Also read code by this disassembler"),
    ]
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
    let objects = Objects {
        dso: absolute(matches, "dso"),
        objdump: file(matches, "objdump"),
    };
    if let Some(number) = text(matches, CASE) {
        let case = Case::numbered(number)
            .ok_or_else(|| Failure::bad_option(format!("there is no check {number}")))?;
        return Ok(TestTask::Case(OneCase { case, objects }));
    }
    if let Some((first, rest)) = words.split_first()
        && first == "list"
    {
        return Ok(TestTask::List(Selection(rest.to_vec())));
    }
    Ok(TestTask::Run(TestRun {
        selection: Selection(words),
        skipped: skipped(text(matches, "skip").unwrap_or_default())?,
        place: place(matches),
        runs: matches.get_one("runs-per-test").copied().unwrap_or(1),
        verbosity: Verbosity {
            level: matches.get_count("verbose"),
            snippet: matches
                .get_one("failure-snippet-lines")
                .copied()
                .unwrap_or(10),
        },
        junit: file(matches, "junit"),
        objects,
    }))
}

/// A file, whatever the working directory is later.
fn absolute(matches: &ArgMatches, option: &str) -> Option<PathBuf> {
    let path = file(matches, option)?;
    Some(std::path::absolute(&path).unwrap_or(path))
}

fn place(matches: &ArgMatches) -> Place {
    match (flag(matches, "dont-fork"), flag(matches, "sequential")) {
        (true, _) => Place::Here,
        (_, true) => Place::Sequential,
        _ => Place::Parallel,
    }
}

fn skipped(list: &str) -> Result<Vec<u32>, Failure> {
    let words = list
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words
        .map(|word| {
            word.parse().map_err(|_| {
                Failure::bad_option(format!("--skip: '{word}' is not the number of a check"))
            })
        })
        .collect()
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
