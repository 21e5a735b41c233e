//! Source text between the instructions, chosen as `objdump -S` chooses it.

use std::collections::HashMap;

use oxperf_objects::SourceFiles;
use oxperf_symbols::SourceLine;

use crate::{Line, Listing};

/// Lines before the first one of a file that are shown for orientation.
const CONTEXT: usize = 5;

/// The line that the code at an address was made from. `rows` say which line begins at which address, ascending.
pub fn line_at(rows: &[(u64, SourceLine)], address: u64) -> Option<&SourceLine> {
    let after = rows.partition_point(|(start, _)| *start <= address);
    rows.get(after.checked_sub(1)?).map(|(_, line)| line).filter(|line| line.line > 0)
}

/// Puts source text before the instructions that begin a line. `rows` say which line begins at which virtual address.
///
/// A line that comes for the first time brings those before it that were not shown yet, a later return to a line that
/// line alone.
#[must_use]
pub fn interleave(listing: Listing, rows: &[(u64, SourceLine)], files: &mut SourceFiles) -> Listing {
    let mut shown = Shown::default();
    let mut lines = Vec::with_capacity(listing.lines.len());
    for line in listing.lines {
        if let Line::Instruction(instruction) = &line
            && let Some(source) = line_at(rows, instruction.address)
        {
            lines.extend(shown.text_before(source, files).into_iter().map(Line::Source));
        }
        lines.push(line);
    }
    Listing { lines, ..listing }
}

/// What has been shown so far.
#[derive(Default)]
struct Shown {
    /// The line shown last.
    last: Option<(std::sync::Arc<str>, u32)>,
    /// The furthest line of each file that was shown.
    furthest: HashMap<std::sync::Arc<str>, usize>,
}

impl Shown {
    fn text_before(&mut self, source: &SourceLine, files: &mut SourceFiles) -> Vec<String> {
        let here = (source.file.clone(), source.line);
        if self.last.as_ref() == Some(&here) {
            return Vec::new();
        }
        self.last = Some(here);
        let Some(text) = files.text(&source.file) else { return Vec::new() };
        let line = source.line as usize;
        let furthest = self.furthest.entry(source.file.clone()).or_default();
        let mut first = line.saturating_sub(CONTEXT).max(1);
        if *furthest >= first {
            first = if *furthest < line { *furthest + 1 } else { line };
        }
        *furthest = line.max(*furthest);
        (first..=line).filter_map(|line| text.line(line).map(str::to_owned)).collect()
    }
}
