//! How `stat` ends: with the status of its program, and by signals, after it has shown what it counted.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Output, Stdio};

use crate::recorder::{finish, send};
use crate::support::lossy;

/// `stat`, started by a shell, which is what tells the exit code that users see.
fn status_of(words: &str) -> (i32, String) {
    let script = format!("'{}' stat {words}", env!("CARGO_BIN_EXE_oxperf"));
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    (output.status.code().unwrap(), lossy(&output.stderr))
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    for code in [0, 1, 7, 255] {
        let (status, table) = status_of(&format!("-n sh -c 'exit {code}'"));
        assert_eq!(status, code, "{table}");
        assert!(table.contains("seconds time elapsed"), "{table}");
    }
    let (status, table) = status_of("-n -r 3 sh -c 'exit 9'");
    assert_eq!(status, 9, "{table}");
    assert!(table.contains("(3 runs)"), "{table}");
    let (status, table) = status_of("-e task-clock -I 10 sh -c 'exit 5'");
    assert_eq!(status, 5, "{table}");
}

#[test]
fn a_program_that_a_signal_ended_gives_its_number_and_is_told() {
    for (signal, number, words) in [
        ("TERM", 15, "sh: Terminated"),
        ("KILL", 9, "sh: Killed"),
        ("SEGV", 11, "sh: Segmentation fault"),
    ] {
        let (status, table) = status_of(&format!("-n sh -c 'kill -{signal} $$'"));
        assert_eq!(status, 128 + number, "{table}");
        assert!(table.starts_with(words), "{table}");
        assert!(table.contains("seconds time elapsed"), "{table}");
    }
}

#[test]
fn a_program_that_is_not_there_is_not_counted() {
    let (status, table) = status_of("-n /no/such/program");
    assert_eq!(status, 1, "{table}");
    assert!(table.starts_with("Workload failed: "), "{table}");
    assert!(!table.contains("elapsed"), "{table}");
}

/// `stat` in a process group of its own, as a shell starts it on a terminal: interrupts end it even where whoever runs the
/// tests ignores them.
fn start(words: &[&str]) -> Child {
    Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_oxperf"), "stat"])
        .args(words)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A program that says when it runs, and then takes long; `stat` has begun to count by then.
const LONG: [&str; 3] = ["sh", "-c", "echo runs; exec sleep 60"];

fn wait_for_program(child: &mut Child) {
    let mut line = String::new();
    let out = child.stdout.as_mut().unwrap();
    BufReader::new(out).read_line(&mut line).unwrap();
    assert_eq!(line, "runs\n");
}

/// Sends a signal to `stat` and its program at once, as a terminal does, and waits for the end.
fn interrupt(child: Child) -> Output {
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.unwrap().success());
    finish(child)
}

fn table_of_interrupted(output: &Output) -> String {
    let table = lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(2), "{table}");
    assert!(table.contains("seconds time elapsed"), "{table}");
    table
}

#[test]
fn an_interrupt_ends_the_program_and_shows_the_table() {
    let mut child = start(&[&["-e", "task-clock"], &LONG[..]].concat());
    wait_for_program(&mut child);
    let table = table_of_interrupted(&interrupt(child));
    assert!(table.starts_with("sh: Interrupt"), "{table}");
    assert!(table.contains("task-clock"), "{table}");
}

#[test]
fn an_interrupt_ends_intervals_and_a_measurement_without_program() {
    let mut child = start(&["-I", "20", "-e", "task-clock"]);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("task-clock") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "no interval");
    }
    send("-INT", child.id());
    let status = finish(child).status;
    assert_eq!(status.signal(), Some(2));

    let child = start(&["-a", "-n"]);
    let pid = child.id();
    crate::recorder::until("no handler", || catches_interrupts(pid));
    send("-INT", pid);
    table_of_interrupted(&finish(child));
}

/// Returns whether a process has a handler for interrupts.
fn catches_interrupts(pid: u32) -> bool {
    const INTERRUPT: u64 = 1 << 1;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status
        .lines()
        .find_map(|line| line.strip_prefix("SigCgt:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & INTERRUPT != 0)
}

#[test]
fn runs_without_end_are_shown_one_by_one_until_an_interrupt() {
    let script =
        "i=$(cat \"$0\"); echo $((i+1)) >\"$0\"; [ $i -lt 2 ] || { echo runs; exec sleep 60; }";
    let file = crate::support::scratch(module_path!()).join("runs");
    std::fs::write(&file, "0").unwrap();
    let file = file.to_str().unwrap();
    let mut child = start(&["-n", "-r", "0", "sh", "-c", script, file]);
    wait_for_program(&mut child);
    let table = table_of_interrupted(&interrupt(child));
    let runs = table.matches("seconds time elapsed").count();
    // Two ended, and one was interrupted.
    assert_eq!(runs, 3, "{table}");
}

#[test]
fn who_ends_it_by_another_signal_sees_the_table_too() {
    let mut child = start(&[&["-n"], &LONG[..]].concat());
    wait_for_program(&mut child);
    send("-TERM", child.id());
    let output = finish(child);
    let table = lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(15), "{table}");
    assert!(table.contains("seconds time elapsed"), "{table}");
}
