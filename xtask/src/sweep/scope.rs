//! What belongs to a later issue, told from the commands.

use super::case::{Case, Golden};

/// Words in the recording command, and what they need.
const RECORDINGS: &[(&str, &str)] = &[
    (" -o - ", "pipe"),
    ("inject ", "pipe"),
    ("record -z", "zstd"),
    ("--threads", "directory"),
    ("dwarf", "dwarf unwinding"),
    ("stat record", "perf stat"),
    ("perf-map", "perf map of a JIT"),
];

/// Words in the command that made the text, and what they need.
const GOLDENS: &[(&str, &str)] = &[
    ("evlist ", "command evlist"),
    ("buildid-list ", "command buildid-list"),
    ("stat report", "command stat"),
    ("--stats", "report --stats"),
    ("--show-task-events", "script --show-*"),
    (",trace", "sort key trace"),
];

/// Why this text is not compared yet, or `None` when it must be identical.
pub(super) fn later(case: &Case, golden: &Golden) -> Option<&'static str> {
    let command = golden.args.join(" ") + " ";
    find(RECORDINGS, &case.recording).or_else(|| find(GOLDENS, &command))
}

fn find(table: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    table.iter().find(|(word, _)| text.contains(word)).map(|(_, reason)| *reason)
}
