//! What belongs to a later issue, told from the commands.

use super::case::{Case, Golden};

/// Words in the recording command, and what its container needs.
const CONTAINERS: &[(&str, &str)] =
    &[(" -o - ", "pipe"), ("inject ", "pipe"), ("--threads", "directory"), ("stat record", "perf stat")];

/// Words in the recording command, and what its samples need.
const SAMPLES: &[(&str, &str)] =
    &[("record -z", "zstd"), ("dwarf", "dwarf unwinding"), ("perf-map", "perf map of a JIT")];

/// Words in commands that look at the header alone.
const HEADER_COMMANDS: [&str; 3] = ["--header-only", "evlist ", "buildid-list "];

/// Words in the command that made the text, and what they need.
const GOLDENS: &[(&str, &str)] = &[
    ("stat report", "command stat"),
    ("--stats", "report --stats"),
    ("--show-task-events", "script --show-*"),
    (",trace", "sort key trace"),
];

/// Why this text is not compared yet, or `None` when it must be identical.
pub(super) fn later(case: &Case, golden: &Golden) -> Option<&'static str> {
    let command = golden.args.join(" ") + " ";
    let reads_samples = !HEADER_COMMANDS.iter().any(|word| command.contains(word));
    let samples = find(SAMPLES, &case.recording).filter(|_| reads_samples);
    find(CONTAINERS, &case.recording).or(samples).or_else(|| find(GOLDENS, &command))
}

fn find(table: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    table.iter().find(|(word, _)| text.contains(word)).map(|(_, reason)| *reason)
}
