//! `stat -I --graph` on a terminal, and where there is none.

use std::process::Command;

use crate::support::lossy;
use crate::terminal::Terminal;

/// The events count time and nothing else, which every kernel does.
const EVENTS: &str = "-e task-clock,page-faults";

#[test]
fn a_line_an_event_is_drawn_anew_with_each_interval() {
    let Some(terminal) = Terminal::start("stat-graph") else {
        return;
    };
    let counts = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["stat", "-e", "task-clock", "true"])
        .status();
    if !counts.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: no picture was drawn (events cannot be opened here)");
        return;
    }
    let program = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'";
    let ended = terminal.run(&format!("stat -I 20 --graph {EVENTS} {program}"));
    let screen = terminal.wait(&ended);
    let lines: Vec<&str> = screen.lines().collect();
    let of = |name: &str| -> Vec<&str> {
        let is_row = |line: &&&str| line.trim_start().starts_with(name);
        lines.iter().filter(is_row).copied().collect()
    };
    // However many intervals there were, one picture is left.
    let (clock, faults) = (of("task-clock"), of("page-faults"));
    assert_eq!((clock.len(), faults.len()), (1, 1), "{screen}");
    assert!(
        clock[0].contains('█') && clock[0].contains("/s"),
        "{screen}"
    );
    let times = lines
        .iter()
        .filter(|line| line.starts_with("# ") && line.ends_with(" s"));
    assert_eq!(times.count(), 1, "{screen}");
    assert!(!screen.contains("counts"), "{screen}");
}

#[test]
fn what_is_no_terminal_gets_no_picture() {
    for (words, reason) in [
        (&["-I", "100"][..], "--graph draws on a terminal"),
        (
            &["-I", "100", "-o", "/dev/null"],
            "--graph draws on a terminal",
        ),
        (
            &["-I", "100", "-j"],
            "--graph draws a picture in place of the table",
        ),
        (&[], "--graph draws intervals"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(["stat", "-n", "--graph"])
            .args(words)
            .arg("true")
            .output()
            .unwrap();
        let message = lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(22), "{message}");
        assert!(message.starts_with(reason), "{message}");
    }
}
