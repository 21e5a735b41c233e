//! Source text between the instructions, chosen as `objdump -S` chooses it.

use std::collections::HashMap;

use oxperf_objects::SourceFiles;
use oxperf_symbols::SourceLine;

use crate::{Listing, ListingLine};

/// Lines before the first one of a file that are shown for orientation.
const CONTEXT: usize = 5;

/// The line that the code at an address was made from. `rows` say which line begins at which address, ascending.
fn line_at(rows: &[(u64, SourceLine)], address: u64) -> Option<&SourceLine> {
    let after = rows.partition_point(|(start, _)| *start <= address);
    rows.get(after.checked_sub(1)?)
        .map(|(_, line)| line)
        .filter(|line| line.line > 0)
}

/// Puts source text before the instructions that begin a line. `rows` say which line begins at which virtual address.
///
/// A line that comes for the first time brings those before it that were not shown yet, a later return to a line that
/// line alone, and none unless another of its file was shown meanwhile.
#[must_use]
pub fn interleave(
    listing: Listing,
    rows: &[(u64, SourceLine)],
    files: &mut SourceFiles,
) -> Listing {
    let mut shown = Shown::default();
    let mut lines = Vec::with_capacity(listing.lines.len());
    for line in listing.lines {
        if let ListingLine::Instruction(instruction) = &line
            && let Some(source) = line_at(rows, instruction.address)
        {
            lines.extend(
                shown
                    .text_before(source, files)
                    .into_iter()
                    .map(ListingLine::Source),
            );
        }
        lines.push(line);
    }
    Listing { lines, ..listing }
}

/// The lines that have been shown so far.
#[derive(Default)]
struct Shown {
    files: HashMap<std::sync::Arc<str>, ShownFile>,
}

/// The lines of a file that have been shown.
#[derive(Default)]
struct ShownFile {
    /// The line shown last: code that comes back to it from other files' lines does not show it again.
    last: usize,
    furthest: usize,
}

impl Shown {
    fn text_before(&mut self, source: &SourceLine, files: &mut SourceFiles) -> Vec<String> {
        let Some(text) = files.text(&source.file) else {
            return Vec::new();
        };
        let line = source.line as usize;
        let file = self.files.entry(source.file.clone()).or_default();
        if file.last == line {
            return Vec::new();
        }
        let mut first = line.saturating_sub(CONTEXT).max(1);
        if file.furthest >= first {
            first = if file.furthest < line {
                file.furthest + 1
            } else {
                line
            };
        }
        *file = ShownFile {
            last: line,
            furthest: file.furthest.max(line),
        };
        (first..=line)
            .filter_map(|line| text.line(line).map(without_tabs))
            .collect()
    }
}

/// Width of a tab: the next column that is a multiple of this.
const TAB: usize = 8;

/// The line with blanks in place of its tabs, and none at its end.
fn without_tabs(line: &str) -> String {
    let line = line.trim_ascii_end();
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for (nth, part) in line.split('\t').enumerate() {
        if nth > 0 {
            let blanks = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        }
        out.push_str(part);
        column += part.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use oxperf_objects::SearchPaths;

    use super::*;

    #[test]
    fn tabs_lead_to_every_eighth_column() {
        assert_eq!(without_tabs("\ta\t\tbc"), "        a               bc");
        assert_eq!(without_tabs("12345678\tx"), "12345678        x");
        assert_eq!(without_tabs("no tab"), "no tab");
    }

    #[test]
    fn blanks_at_the_end_of_a_line_are_left_out() {
        assert_eq!(without_tabs("\tx += 1;  \t \r"), "        x += 1;");
        assert_eq!(without_tabs(" \t "), "");
    }

    #[test]
    fn a_file_tells_a_line_again_only_after_another_of_its_own() {
        let folder = std::env::temp_dir().join(format!("oxperf-interleave-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| -> std::sync::Arc<str> {
            let path = folder.join(name);
            std::fs::write(&path, format!("{name} 1\n{name} 2\n{name} 3\n")).unwrap();
            path.to_str().unwrap().into()
        };
        let (a, b) = (file("a"), file("b"));
        let code = [
            (&a, 1),
            (&b, 1),
            (&a, 1),
            (&b, 3),
            (&a, 2),
            (&b, 1),
            (&a, 1),
        ];
        let mut files = SourceFiles::new(SearchPaths::default(), true);
        let mut shown = Shown::default();
        let texts = code.map(|(file, line)| {
            shown
                .text_before(
                    &SourceLine {
                        file: file.clone(),
                        line,
                        column: 0,
                    },
                    &mut files,
                )
                .join(", ")
        });
        assert_eq!(texts, ["a 1", "b 1", "", "b 2, b 3", "a 2", "b 1", "a 1"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
