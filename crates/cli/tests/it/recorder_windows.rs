//! `record -D`: when events count, what is said about it, and how windows of time end.

use std::os::unix::process::ExitStatusExt;

use crate::recorder::{BUSY, Folder, OXPERF, said};

/// What is said about counting, in order.
fn changes(said: &str) -> Vec<&str> {
    let lines = said.lines();
    lines
        .filter_map(|line| line.strip_prefix("Events "))
        .collect()
}

fn record(folder: &Folder, options: &[&str], program: &[&str]) -> std::process::Output {
    let common = ["record", "-N", "-e", "task-clock", "-F", "1000"];
    folder.run(OXPERF, &[&common, options, &["--"], program].concat())
}

#[test]
fn the_last_window_ends_the_recording() {
    let folder = Folder::new("windows");
    if !folder.records() {
        return;
    }
    let options = ["-D", "20-120,140-240", "-o", "f.data"];
    let output = record(&folder, &options, &["sh", "-c", BUSY]);
    let said = said(&output);
    let expected = ["disabled", "enabled", "disabled", "enabled", "disabled"];
    assert_eq!(changes(&said), expected, "{said}");
    // The program had not ended.
    assert_eq!(output.status.signal(), Some(15), "{said}");
    assert!(folder.samples("f.data") > 0, "{said}");
}

#[test]
fn a_window_from_the_start_says_nothing_before_its_end() {
    let folder = Folder::new("windows-now");
    if !folder.records() {
        return;
    }
    let options = ["-D", "0-200", "-o", "f.data"];
    let output = record(&folder, &options, &["sh", "-c", BUSY]);
    let said = said(&output);
    assert_eq!(changes(&said), ["disabled"], "{said}");
    assert!(folder.samples("f.data") > 0, "{said}");
}

#[test]
fn a_program_that_ends_first_ends_the_recording() {
    let folder = Folder::new("windows-late");
    if !folder.records() {
        return;
    }
    for late in ["60000", "60000-70000"] {
        let output = record(&folder, &["-D", late, "-o", "f.data"], &["true"]);
        let said = said(&output);
        assert!(output.status.success(), "{late}: {said}");
        assert_eq!(changes(&said), ["disabled"], "{late}: {said}");
        assert_eq!(folder.samples("f.data"), 0, "{late}: {said}");
    }
}

#[test]
fn quiet_recordings_say_nothing_of_windows() {
    let folder = Folder::new("windows-quiet");
    if !folder.records() {
        return;
    }
    let output = record(
        &folder,
        &["-q", "-D", "1-20", "-o", "f.data"],
        &["sleep", "60"],
    );
    assert_eq!(said(&output), "");
    assert_eq!(output.status.signal(), Some(15));
}
