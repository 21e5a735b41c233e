//! What rows of equal weight stand in order by.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use oxperf_testkit::Recording;

use crate::support::scratch;

/// The names of two threads in the order of their rows. Both have fifty samples; at one of `shared`'s another thread ran
/// at the same time.
fn rows(shared: u32) -> Vec<String> {
    let mut text =
        "event cycles sample=IP|TID|TIME|PERIOD flags=sample_id_all|comm|context_switch period=1\n\
                    comm pid=1 tid=1 first | pid=1 tid=1 time=1\n\
                    comm pid=1 tid=2 second | pid=1 tid=2 time=1\n"
            .to_owned();
    let sample = |text: &mut String, tid: u32, time: usize| {
        writeln!(
            text,
            "sample mode=user ip=0x10 pid=1 tid={tid} time={time} period=10"
        )
        .unwrap();
    };
    for (nth, tid) in [1, 2].into_iter().enumerate() {
        let alone = if tid == shared { 49 } else { 50 };
        (0..alone).for_each(|sampled| sample(&mut text, tid, 100 + nth * 100 + sampled));
    }
    text.push_str("switch | pid=1 tid=3 time=500\n");
    sample(&mut text, shared, 501);
    text.push_str(
        "switch misc=0x2000 | pid=1 tid=3 time=502\nfinished_round\nfeature nrcpus u32=2,2\n",
    );

    let folder = scratch(module_path!()).join("report_order");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("shared-{shared}"));
    fs::write(&path, Recording::parse(&text).unwrap().to_file()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["report", "--stdio", "-s", "comm", "-i"])
        .arg(&path)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().filter(|line| line.contains('%'));
    rows.map(|row| row.split_whitespace().nth(1).unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn more_time_that_passed_comes_first_even_without_a_column() {
    assert_eq!(
        [rows(1), rows(2)],
        [["second", "first"], ["first", "second"]]
    );
}
