//! A program recorded and shown by one command. Where the machine has no counters, `cpu-clock` or `task-clock` takes the
//! place of cycles.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::support::{lossy, piped, scratch, stdout};

/// Runs long enough for some samples, and ends with a status of its own.
const PROGRAM: [&str; 3] = [
    "sh",
    "-c",
    "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3",
];

fn oxperf(arguments: &[&str]) -> Output {
    piped(&scratch(module_path!()), arguments, b"")
}

/// Profiles the program with the page and the recording of a test; `None` where the machine does not let us.
fn profile(test: &str, options: &[&str]) -> Option<(Output, PathBuf)> {
    let (recording, page) = (format!("{test}.data"), format!("{test}.html"));
    let common = ["profile", "-N", "-o", &recording, "--html", &page];
    let output = oxperf(&[&common[..], options, &["--"], &PROGRAM].concat());
    if output.status.code() != Some(3) {
        eprintln!("skipped: {}", lossy(&output.stderr));
        return None;
    }
    Some((output, scratch(module_path!()).join(page)))
}

/// The table names the program's functions, the page holds its samples, and the recording can be read on.
#[test]
fn a_program_is_recorded_and_shown() {
    let Some((output, page)) = profile("shown", &["-F", "2000"]) else {
        return;
    };
    let table = stdout(&output);
    assert!(table.contains(" sh "), "{table}");
    assert!(table.contains("oxperf report -i shown.data"), "{table}");
    assert!(table.contains("oxperf script -i shown.data"), "{table}");
    assert!(table.contains("shown.html"), "{table}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("</html>") && page.contains("sh -c i=0"));
    // Call chains are recorded although nobody asked for them.
    let header = oxperf(&["report", "--header-only", "-i", "shown.data"]);
    assert!(stdout(&header).contains("CALLCHAIN"));
}

#[test]
fn the_table_has_as_many_functions_as_wanted() {
    let Some((output, _)) = profile("short", &["-e", "task-clock:u", "--top", "1"]) else {
        return;
    };
    let table = stdout(&output);
    assert!(table.contains("task-clock:u"), "{table}");
    let rows = table.lines().filter(|line| line.contains(" sh "));
    assert_eq!(rows.count(), 1, "{table}");
}

/// A shell keeps no frame pointers in all of its shared objects, so that its stacks are copied, and a line says so. An option
/// goes before that.
#[test]
fn stacks_are_complete_without_an_option() {
    let Some((output, _)) = profile("stacks", &[]) else {
        return;
    };
    let said = lossy(&output.stderr);
    let line = said.lines().find(|line| line.starts_with("Stacks: "));
    let Some(line) = line else {
        panic!("{said}");
    };
    let header = stdout(&oxperf(&["report", "--header-only", "-i", "stacks.data"]));
    assert_eq!(header.contains("STACK_USER"), line.contains("copies of"));
    for option in ["-g", "--call-graph=fp", "--no-call-graph"] {
        let Some((output, _)) = profile("given", &[option]) else {
            return;
        };
        assert!(!lossy(&output.stderr).contains("Stacks: "), "{option}");
        let header = stdout(&oxperf(&["report", "--header-only", "-i", "given.data"]));
        let has_chains = header.contains("CALLCHAIN");
        assert_eq!(has_chains, option != "--no-call-graph", "{option}");
        assert!(!header.contains("STACK_USER"), "{option}");
    }
}
