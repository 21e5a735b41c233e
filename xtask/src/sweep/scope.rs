//! What belongs to a later issue, told from the commands.

use super::case::{Case, Golden};

/// Words in the recording command, and what its container needs.
const CONTAINERS: &[(&str, &str)] = &[("stat record", "perf stat")];

/// Words in the command that made the text, and what they need.
const GOLDENS: &[(&str, &str)] = &[("stat report", "command stat")];

/// Texts with inlined functions; they also hold symbols of a libc6-dbg that is not here.
const INLINES: &str = "script-inline.txt.zst";

/// Returns the reason why this text is not compared yet, or `None` when it must be identical.
pub(super) fn later(case: &Case, golden: &Golden) -> Option<&'static str> {
    if golden.file == INLINES {
        return Some("inlined functions");
    }
    let command = golden.args.join(" ") + " ";
    find(CONTAINERS, &case.recording).or_else(|| find(GOLDENS, &command))
}

fn find(table: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(word, _)| text.contains(word))
        .map(|(_, reason)| *reason)
}
