//! `stat` over real programs: what holds whatever the machine counts.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::lossy;

/// The seconds of a line of the table's foot.
fn seconds(table: &str, what: &str) -> f64 {
    let mut lines = table.lines();
    let line = lines.find(|line| line.contains(what));
    let line = line.unwrap_or_else(|| panic!("no {what}: {table}"));
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn the_elapsed_time_has_all_of_the_program() {
    // The clock starts before the program does: one that sleeps cannot take less than its sleep.
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["stat", "-n", "sleep", "0.05"])
        .output()
        .unwrap();
    let table = lossy(&output.stderr);
    assert!(output.status.success(), "{table}");
    assert!(seconds(&table, "seconds time elapsed") >= 0.05, "{table}");
}

#[test]
fn commands_are_obeyed_and_answered_while_a_program_runs() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args([
            "stat",
            "-D",
            "-1",
            "--control",
            "fd:0,1",
            "-e",
            "page-faults",
        ])
        .args(["sh", "-c", "sleep 0.3"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut commands = child.stdin.take().unwrap();
    commands
        .write_all(b"enable\nevlist\nnosuch\ndisable page-faults\nping\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(lossy(&output.stdout), "ack\n\0ack\n\0ack\n\0ack\n\0");
    let table = lossy(&output.stderr);
    let said = "Events disabled\nEvents enabled\npage-faults\nEvent page-faults disabled\n";
    assert!(table.starts_with(said), "{table}");
}

#[test]
fn a_program_with_many_children_is_counted_whole() {
    // Each child opens, reads and closes a file: what the kernel counts with `inherit` is the sum over all of them.
    let count = |children: u32| {
        let script = format!("i=0; while [ $i -lt {children} ]; do (exit 0); i=$((i+1)); done");
        let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(["stat", "-x,", "-e", "page-faults:u,task-clock:u"])
            .args(["sh", "-c", &script])
            .output()
            .unwrap();
        let table = lossy(&output.stderr);
        let line = table.lines().find(|line| line.contains("page-faults"));
        let line = line.unwrap_or_else(|| panic!("no faults: {table}"));
        line.split(',').next().unwrap().parse::<u64>().unwrap()
    };
    let (few, many) = (count(20), count(220));
    let each = (many - few) / 200;
    // A child of a shell touches its stack and data at least.
    assert!(each >= 5, "{few} faults with 20 children, {many} with 220");
    assert!(
        many > few + 200 * 5,
        "{few} faults with 20 children, {many} with 220"
    );
}

#[test]
fn of_all_threads_those_that_ran_are_shown() {
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["stat", "-a", "--per-thread", "-x,", "-e", "task-clock"])
        .args(["sleep", "0.1"])
        .output()
        .unwrap();
    let table = lossy(&output.stderr);
    let is_thread = |line: &str| line.contains(",msec,task-clock,");
    let threads: Vec<&str> = table.lines().filter(|line| is_thread(line)).collect();
    // Who may not count others is told so.
    assert!(!threads.is_empty() || !output.status.success(), "{table}");
    let is_idle = |line: &&&str| line.contains(",0.00,msec") && line.contains(",0,100.00");
    assert_eq!(threads.iter().find(is_idle), None);
}
