//! `report --total-cycles`: the stretches of code that took most cycles.

use std::io::{self, Write};

use oxperf_analysis::blocks::BlockTable;
use oxperf_analysis::hist::Table;
use oxperf_profile::{Block, Profile, SourceId};

use super::percent::{colour, end_of};
use super::{ReportText, summary};
use crate::text::sanitize;

/// The columns with their widths.
const COLUMNS: [(&str, usize); 6] = [
    ("Sampled Cycles%", 15),
    ("Sampled Cycles", 14),
    ("Avg Cycles%", 11),
    ("Avg Cycles", 10),
    ("[Program Block Range]", 70),
    ("Shared Object", 20),
];

/// Most characters that a range is shown with.
const RANGE_LENGTH: usize = 127;

/// Writes the stretches below one table's events.
pub fn blocks(
    out: &mut dyn Write,
    profile: &Profile,
    table: &Table,
    blocks: &BlockTable<'_>,
    text: &ReportText,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    if !text.quiet {
        summary::heading(&mut buffer, profile, table, text);
    }
    let heading = COLUMNS.map(|(name, width)| format!("{name:>width$}"));
    let dots = COLUMNS.map(|(_, width)| ".".repeat(width));
    writeln!(buffer, "# {}\n# {}\n#", heading.join("  "), dots.join("  "))?;
    for block in &blocks.blocks {
        let wholes = Wholes {
            cycles: profile.blocks.cycles,
            averages: blocks.averages,
        };
        row(&mut buffer, profile, block, wholes, text)?;
    }
    out.write_all(&buffer)
}

/// The wholes of percentages.
#[derive(Clone, Copy)]
struct Wholes {
    /// The cycles of all stretches.
    cycles: u64,
    /// The sum of the stretches' average cycles.
    averages: u64,
}

fn row(
    buffer: &mut Vec<u8>,
    profile: &Profile,
    block: &Block,
    wholes: Wholes,
    text: &ReportText,
) -> io::Result<()> {
    let average = block.all.average();
    let percent = share(block.all.cycles, wholes.cycles);
    if percent < text.min_percent {
        return Ok(());
    }
    let colour = if text.coloured { colour(percent) } else { b"" };
    let [
        share_width,
        cycles_width,
        average_share_width,
        average_width,
        range_width,
        object_width,
    ] = COLUMNS.map(|(_, width)| width);
    buffer.extend_from_slice(b"  ");
    buffer.extend_from_slice(colour);
    write!(buffer, "{:>share_width$}", format!("{percent:.2}%"))?;
    buffer.extend_from_slice(end_of(colour));
    writeln!(
        buffer,
        "  {:>cycles_width$}  {:>average_share_width$}  {:>average_width$}  {:>range_width$}  {:>object_width$}",
        short(block.all.cycles),
        format!("{:.2}%", share(average, wholes.averages)),
        short(average),
        range(profile, block),
        object(profile, block),
    )
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 * 100.0 / whole as f64
    }
}

/// A number of cycles in few digits.
fn short(cycles: u64) -> String {
    match cycles {
        0..1000 => cycles.to_string(),
        1000..1_000_000 => format!("{:.1}K", cycles as f64 / 1e3),
        _ => format!("{:.1}M", cycles as f64 / 1e6),
    }
}

/// The first and the last of the stretch: source lines, or distances from the function's beginning.
fn range(profile: &Profile, block: &Block) -> String {
    let line = |id: SourceId| profile.sources.get(id.index()).map_or("", String::as_str);
    let symbol = profile.symbols.get(block.symbol.index());
    let from_symbol = |address: u64| address.wrapping_sub(symbol.map_or(0, |symbol| symbol.start));
    let text = match block.lines {
        Some([start, end]) => sanitize(&format!("[{} -> {}]", line(start), line(end))).into_owned(),
        None => format!(
            "[{:7x} -> {:7x}]",
            block.start.map_or(0, from_symbol),
            from_symbol(block.end)
        ),
    };
    text.chars().take(RANGE_LENGTH).collect()
}

fn object<'p>(profile: &'p Profile, block: &Block) -> std::borrow::Cow<'p, str> {
    let symbol = profile.symbols.get(block.symbol.index());
    let object = symbol.and_then(|symbol| profile.dsos.get(symbol.dso.index()));
    sanitize(object.map_or("[unknown]", |object| object.short.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cycles_are_short() {
        assert_eq!(
            [999, 1000, 65_535, 999_999, 1_000_000].map(short),
            ["999", "1.0K", "65.5K", "1000.0K", "1.0M"]
        );
    }
}
