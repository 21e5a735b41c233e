//! `stat` over real programs: what holds whatever the machine counts.

use std::process::Command;

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
