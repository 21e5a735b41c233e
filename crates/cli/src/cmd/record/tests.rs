//! Options against the events that perf opens for them, and options that are refused.

mod opens;

use clap::Arg;
use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_capture::{MachineInfo, Plan, Purpose, Rate, Target, Unsupported};
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints};

use super::messages::Verbosity;
use super::{ArgumentProblem, RecordCommand, arguments, events};
use crate::arguments::BUILD_ID_DIR;
use crate::configuration::Configuration;

/// The thread that stands for `PID` in the expectations.
const THREAD: i32 = 4242;

fn parse(options: &str) -> Result<RecordCommand, ArgumentProblem> {
    let options = options.replace("PID", &THREAD.to_string());
    let words = ["record"]
        .into_iter()
        .chain(options.split_whitespace())
        .chain(["/bin/true"]);
    // Every command has this option.
    let cache = Arg::new(BUILD_ID_DIR).long(BUILD_ID_DIR);
    let matches = arguments::command()
        .arg(cache)
        .infer_long_args(true)
        .try_get_matches_from(words)
        .unwrap();
    arguments::parse(&matches, &Configuration::default())
}

fn parsed(options: &str) -> RecordCommand {
    parse(options).unwrap()
}

/// The plan in the notation of `plans.txt`.
fn plan(options: &str) -> String {
    let command = parsed(options);
    let texts: Vec<&str> = command.events.iter().map(String::as_str).collect();
    let pmus = MemoryPmus::new().pmu("software", 1).pmu("cpu", 4);
    let tracepoints = MemoryTracepoints::default().with("sched", "sched_switch", 0x174);
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    let requests = events::look_up_in(&texts, &catalogue).unwrap();
    let target = &command.options.target;
    let threads = match target.target {
        Target::Processes(_) | Target::Threads(_) => vec![Tid(THREAD)],
        _ => Vec::new(),
    };
    let machine = MachineInfo {
        online: vec![Cpu(0), Cpu(1)],
        threads,
        is_hybrid: false,
    };
    let purpose = Purpose::Sampling(&command.options.sampling);
    let plan = Plan::new(target, purpose, &requests, &machine, Unsupported::default());
    plan.to_string().lines().map(in_notation).collect()
}

/// Without the event's name and its leader's number, which perf does not show.
fn in_notation(line: &str) -> String {
    let thread = format!("thread {THREAD}");
    let line = line
        .find(" type=")
        .map_or(line, |at| &line[at + 1..])
        .replace(&thread, "thread PID");
    match line.split_once(" of ") {
        Some((start, rest)) => format!(
            "{start}{}\n",
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        ),
        None => line + "\n",
    }
}

#[test]
fn what_is_opened_is_what_perf_opens() {
    let cases = include_str!("plans.txt").split("\n$ ").skip(1);
    let mut compared = 0;
    for case in cases {
        let (options, expected) = case.split_once('\n').unwrap();
        assert_eq!(
            plan(options).trim_end(),
            expected.trim_end(),
            "record {options}"
        );
        compared += 1;
    }
    assert_eq!(compared, 55);
}

#[test]
fn the_program_keeps_its_own_options() {
    let command = parsed("-e cpu-clock -F 99 ls -F -e x --");
    assert_eq!(command.options.sampling.rate, Some(Rate::Frequency(99)));
    let program = command.options.target.workload.unwrap();
    assert_eq!(
        program.arguments,
        ["ls", "-F", "-e", "x", "--", "/bin/true"]
    );
}

#[test]
fn the_last_of_equal_options_counts() {
    let sampling = parsed("-F 99 -F 5").options.sampling;
    assert_eq!(sampling.rate, Some(Rate::Frequency(5)));
}

#[test]
fn contradictions_and_bad_values_differ() {
    let problem = |options: &str| parse(options).unwrap_err();
    let is_value = |options| matches!(problem(options), ArgumentProblem::Value(_));
    let contradiction = problem("-F 5 -c 5");
    assert!(matches!(contradiction, ArgumentProblem::Contradiction(_)));
    assert!(matches!(problem("-p 12,x"), ArgumentProblem::NoTask(_)));
    assert!(is_value("-C 3-1"));
    assert!(is_value("-m x"));
    assert!(is_value("--compression-level=23"));
    assert!(is_value("--call-graph dwarf,9999999"));
    assert!(is_value("-j any,bogus"));
    assert!(is_value("-b -j any"));
}

#[test]
fn a_recording_has_a_destination_and_a_compression() {
    let output = |options: &str| {
        let output = parsed(options).options.output;
        (output.destination.to_string(), output.compression)
    };
    assert_eq!(output(""), ("perf.data".to_owned(), None));
    assert_eq!(output("-z -o -"), ("-".to_owned(), Some(1)));
    let level = output("--compression-level=9 -o x");
    assert_eq!(level, ("x".to_owned(), Some(9)));
    let none = output("--compression-level=0");
    assert_eq!(none, ("perf.data".to_owned(), None));
}

#[test]
fn tasks_go_before_cpus() {
    let command = parsed("-a -C 0 -p PID");
    let target = Target::Processes(vec![Pid(THREAD)]);
    assert_eq!(command.options.target.target, target);
    assert_eq!(command.warnings.len(), 2);
}

#[test]
fn messages_are_as_many_as_the_user_wants() {
    assert_eq!(parsed("").verbosity, Verbosity::Normal);
    assert_eq!(parsed("-v").verbosity, Verbosity::Verbose);
    assert_eq!(parsed("-vv").verbosity, Verbosity::Calls);
    assert_eq!(parsed("-vvv").verbosity, Verbosity::Rings);
    assert_eq!(parsed("-v -q").verbosity, Verbosity::Quiet);
}

#[test]
fn events_that_are_not_there_give_perfs_exit_code() {
    let pmus = MemoryPmus::new();
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    let refused = events::look_up_in(&["nonsense"], &catalogue).unwrap_err();
    assert_eq!(refused.code(), 129);
    assert!(
        refused
            .to_string()
            .starts_with("event syntax error: 'nonsense'"),
        "{refused}"
    );
}
