//! Options against what perf opens for them, and options that are refused.

use clap::ArgMatches;
use oxperf_abi::{Cpu, Tid};
use oxperf_capture::{Missing, Plan, Scene, Target};
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints};

use super::{Problem, arguments, events};

/// The thread that stands for `PID` in the expectations.
const THREAD: i32 = 4242;

fn parse(options: &str) -> ArgMatches {
    let options = options.replace("PID", &THREAD.to_string());
    let words = ["record"]
        .into_iter()
        .chain(options.split_whitespace())
        .chain(["/bin/true"]);
    arguments::command()
        .infer_long_args(true)
        .try_get_matches_from(words)
        .unwrap()
}

/// The plan in the notation of `plans.txt`.
fn plan(options: &str) -> String {
    let matches = parse(options);
    let texts: Vec<&str> = matches
        .get_many::<String>("event")
        .unwrap()
        .map(String::as_str)
        .collect();
    let pmus = MemoryPmus::new().pmu("software", 1).pmu("cpu", 4);
    let tracepoints = MemoryTracepoints::default().with("sched", "sched_switch", 0x174);
    let catalogue = Catalogue {
        pmus: &pmus,
        tracepoints: &tracepoints,
    };
    let requests = events::look_up_in(&texts, &catalogue).unwrap();
    let record = arguments::options(&matches).unwrap().record;
    let threads = match record.target {
        Target::Processes(_) | Target::Threads(_) => vec![Tid(THREAD)],
        _ => Vec::new(),
    };
    let scene = Scene {
        online: vec![Cpu(0), Cpu(1)],
        threads,
    };
    let plan = Plan::new(&record, &requests, &scene, Missing::default());
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
    let matches = parse("-e cpu-clock -F 99 ls -F -e x --");
    assert_eq!(arguments::text(&matches, "freq"), Some("99"));
    let program = arguments::options(&matches)
        .unwrap()
        .record
        .workload
        .unwrap();
    assert_eq!(
        program.arguments,
        ["ls", "-F", "-e", "x", "--", "/bin/true"]
    );
}

#[test]
fn the_last_of_equal_options_counts() {
    assert_eq!(arguments::text(&parse("-F 99 -F 5"), "freq"), Some("5"));
}

#[test]
fn contradictions_and_bad_values_are_told_apart() {
    let problem = |options: &str| arguments::options(&parse(options)).unwrap_err();
    assert!(matches!(problem("-F 5 -c 5"), Problem::Contradiction(_)));
    assert!(matches!(problem("-p 12,x"), Problem::NoTask(_)));
    assert!(matches!(problem("-C 3-1"), Problem::Value(_)));
    assert!(matches!(problem("-m 0"), Problem::Value(_)));
    assert!(matches!(
        problem("--compression-level=23"),
        Problem::Value(_)
    ));
    assert!(matches!(
        problem("--call-graph dwarf,9999999"),
        Problem::Value(_)
    ));
}

#[test]
fn where_a_recording_goes_and_how_small() {
    let told = |options: &str| {
        let record = arguments::options(&parse(options)).unwrap().record;
        (record.output.to_string(), record.compression)
    };
    assert_eq!(told(""), ("perf.data".to_owned(), None));
    assert_eq!(told("-z -o -"), ("-".to_owned(), Some(1)));
    assert_eq!(
        told("--compression-level=9 -o x"),
        ("x".to_owned(), Some(9))
    );
    assert_eq!(
        told("--compression-level=0"),
        ("perf.data".to_owned(), None)
    );
}

#[test]
fn tasks_go_before_cpus() {
    let resolved = arguments::options(&parse("-a -C 0 -p PID")).unwrap();
    assert_eq!(
        resolved.record.target,
        Target::Processes(vec![oxperf_abi::Pid(THREAD)])
    );
    assert_eq!(resolved.warnings.len(), 2);
}

#[test]
fn events_that_are_not_there_give_perfs_exit_code() {
    let pmus = MemoryPmus::new();
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue {
        pmus: &pmus,
        tracepoints: &tracepoints,
    };
    let refused = events::look_up_in(&["nonsense"], &catalogue).unwrap_err();
    assert_eq!(refused.code(), 129);
    assert!(
        refused
            .to_string()
            .starts_with("event syntax error: 'nonsense'"),
        "{refused}"
    );
    let refused = events::look_up_in(&["cpu-clock/call-graph=dwarf/"], &catalogue).unwrap_err();
    assert!(
        refused.to_string().contains("call-graph=dwarf"),
        "{refused}"
    );
}
