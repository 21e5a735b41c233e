//! The text of `report --stats`: how many records of each kind there are.

use std::io::{self, Write};

use oxperf_abi::RecordType;
use oxperf_session::{EventStats, RecordStats};

use crate::text::sanitize;

/// Writes the counts of the whole recording, then those of each event that has any.
pub fn write(out: &mut dyn Write, stats: &RecordStats) -> io::Result<()> {
    let total = stats.total();
    let note = if stats.aux_area { EXCLUDED } else { "" };
    writeln!(
        out,
        "\nAggregated stats:{note}\n{:>20} events: {total:10}",
        "TOTAL"
    )?;
    for (kind, count) in stats.kinds() {
        share(out, kind_name(kind), count, total)?;
    }
    stats
        .events
        .iter()
        .try_for_each(|event| write_event(out, event))
}

const EXCLUDED: &str = " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)";

/// Tools' records go without the word for where they once stood.
fn kind_name(kind: RecordType) -> &'static str {
    let name = kind.name().unwrap_or("unknown");
    name.strip_prefix("HEADER_").unwrap_or(name)
}

fn share(out: &mut dyn Write, name: &str, count: u64, total: u64) -> io::Result<()> {
    let percent = 100.0 * count as f64 / total as f64;
    writeln!(out, "{name:>20} events: {count:10}  ({percent:4.1}%)")
}

fn write_event(out: &mut dyn Write, event: &EventStats) -> io::Result<()> {
    let counts = [
        ("SAMPLE", event.samples),
        ("LOST_SAMPLES", event.lost),
        ("LOST_SAMPLES (BPF)", event.filtered),
    ];
    if counts.iter().all(|(_, count)| *count == 0) {
        return Ok(());
    }
    writeln!(out, "{} stats:", sanitize(&event.name))?;
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        writeln!(out, "{name:>20} events: {count:10}")?;
    }
    Ok(())
}
