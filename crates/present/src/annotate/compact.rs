//! `annotate --stdio2`: the lines of perf's browser as text. Only instructions that cost something have numbers, jumps have
//! arrows and lead to distances from the function's beginning, and branches give the speed of the code.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

use oxperf_listing::{ListedInstruction, ListingLine};
use oxperf_profile::FunctionIpc;

use super::instruction::Parts;
use super::{
    AnnotateText, Annotated, Column, Labelled, RAW_BYTES, Writer, data_words, raw_bytes,
    weight_within,
};
use crate::report::with_unit;
use crate::text::padding::Left;
use crate::text::sanitize;

/// The title above the lines.
#[derive(Clone, Copy, Debug)]
pub struct CompactTitle<'a> {
    /// The function's name.
    pub function: &'a str,
    /// Its object's whole path.
    pub object: &'a str,
    /// The samples of all events, in the functions that were asked for.
    pub samples: u64,
    /// The events that those stand for.
    pub period: u64,
    /// The rate that was set for the first event: samples a second, or events a sample, which perf calls by one name.
    pub frequency: u64,
    /// The events are several.
    pub several: bool,
}

/// Writes one function.
pub fn compact(
    out: &mut dyn Write,
    function: &Annotated<'_>,
    title: &CompactTitle<'_>,
    pace: Option<&FunctionIpc>,
    text: &AnnotateText,
) -> io::Result<()> {
    let mut writer = Writer::new(function, text);
    writer.summary();
    let mut buffer = writer.text;
    let (samples, unit) = with_unit(title.samples);
    let names: Vec<_> = function
        .costs
        .iter()
        .map(|cost| sanitize(cost.name))
        .collect();
    let events = match function.group {
        Some(name) => format!("{} {{ {} }}", sanitize(name), names.join(", ")),
        None => names.join(", "),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        buffer,
        "Samples: {samples}{unit} of event{} '{events}', {} Hz, Event count (approx.): {}, [percent: {}]\n{}() {}",
        if title.several { "s" } else { "" },
        title.frequency,
        title.period,
        text.share.text(),
        sanitize(title.function),
        sanitize(title.object),
    );
    Lines::new(function, pace, text).write(&mut buffer);
    out.write_all(buffer.as_bytes())
}

/// The content of one line: an instruction, or some of its bytes.
struct Row {
    address: u64,
    size: usize,
    text: String,
}

impl Row {
    fn end(&self) -> u64 {
        self.address.saturating_add(self.size as u64)
    }
}

/// An instruction with its bytes, in as many lines as they take.
fn raw_rows(instruction: &ListedInstruction) -> Vec<Row> {
    let rows = (0..)
        .zip(instruction.bytes.chunks(RAW_BYTES))
        .map(|(nth, part)| Row {
            address: instruction.address.wrapping_add(nth * RAW_BYTES as u64),
            size: part.len(),
            text: raw_bytes(part) + if nth == 0 { &instruction.text } else { "" },
        });
    rows.collect()
}

struct Lines<'a> {
    function: &'a Annotated<'a>,
    pace: Option<&'a FunctionIpc>,
    text: &'a AnnotateText,
    rows: Vec<Row>,
    range: Range<u64>,
    /// Distances from the beginning that jumps lead to, ascending; one for each jump.
    targets: Vec<u64>,
    widths: Widths,
}

/// Characters of columns.
struct Widths {
    /// The longest mnemonic.
    name: usize,
    /// The longest distance from the function's beginning.
    distance: usize,
    /// The number of jumps to a place, with the blank behind it; 0 where it is not shown.
    jumps: usize,
}

/// The columns for a number of jumps, as perf reckons them.
fn jump_digits(jumps: usize) -> usize {
    match jumps {
        100.. => 5,
        10.. => 2,
        _ => 1,
    }
}

/// The equal numbers of a sorted list.
fn equal(sorted: &[u64], number: u64) -> usize {
    let start = sorted.partition_point(|&other| other < number);
    sorted[start..].partition_point(|&other| other == number)
}

impl<'a> Lines<'a> {
    fn new(
        function: &'a Annotated<'a>,
        pace: Option<&'a FunctionIpc>,
        text: &'a AnnotateText,
    ) -> Lines<'a> {
        let instructions = function.listing.lines.iter().filter_map(|line| match line {
            ListingLine::Instruction(instruction) => Some(instruction),
            _ => None,
        });
        let rows = |instruction: &ListedInstruction| match text.raw {
            true => raw_rows(instruction),
            false => vec![Row {
                address: instruction.address,
                size: instruction.bytes.len(),
                text: instruction.text.clone(),
            }],
        };
        let rows: Vec<Row> = instructions.flat_map(rows).collect();
        let range = rows.first().map_or(0, |first| first.address)..rows.last().map_or(0, Row::end);
        let parts = || rows.iter().map(|row| Parts::new(&row.text));
        let mut targets: Vec<u64> = parts()
            .filter_map(|parts| parts.local_target(&range))
            .collect();
        targets.sort_unstable();
        let name = parts().map(|parts| parts.name.chars().count()).max();
        let most_jumps = targets
            .chunk_by(|one, other| one == other)
            .map(<[u64]>::len)
            .max();
        let widths = Widths {
            name: name.unwrap_or(0),
            distance: format!("{:x}", range.end.saturating_sub(range.start)).len(),
            jumps: match text.labels.jumps_counted {
                true => jump_digits(most_jumps.unwrap_or(0)) + 1,
                false => 0,
            },
        };
        Lines {
            function,
            pace,
            text,
            rows,
            range,
            targets,
            widths,
        }
    }

    fn write(&self, out: &mut String) {
        for (nth, row) in self.rows.iter().enumerate() {
            let line = self.line(row, nth == 0);
            let data = data_words(self.function, row.address);
            // As wide again, in blanks: perf fills lines up to a width that it does not have, and forgets the jumps.
            let width = line.chars().count() - self.jumps_column(row);
            let _ = writeln!(out, "{line}{}", Left(data, width));
        }
    }

    fn line(&self, row: &Row, first: bool) -> String {
        let mut line = self.costs(row, first);
        let parts = Parts::new(&row.text);
        line.push_str(&self.label(row, &parts));
        line.push_str(parts.arrow(row.address, &self.range).text());
        let width = self.widths.name;
        line.push_str(&sanitize(
            &match self.text.labels.whole && parts.leads_elsewhere() {
                true => parts.whole(width),
                false => parts.short(width, &self.range, self.function.callees),
            },
        ));
        line
    }

    /// The characters for the number of jumps to an instruction; 0 where it is not shown.
    fn jumps_column(&self, row: &Row) -> usize {
        let distance = row.address.wrapping_sub(self.range.start);
        let is_target = self.targets.binary_search(&distance).is_ok();
        match is_target && !self.text.labels.whole {
            true => self.widths.jumps,
            false => 0,
        }
    }

    /// The address beside an instruction, or its distance from the beginning, or as many blanks.
    fn label(&self, row: &Row, parts: &Parts<'_>) -> String {
        let labels = &self.text.labels;
        if labels.whole {
            return format!(" {:x}: ", row.address);
        }
        let Widths {
            distance: digits,
            jumps: before,
            ..
        } = self.widths;
        let distance = row.address.wrapping_sub(self.range.start);
        let jumps = equal(&self.targets, distance);
        if self.jumps_column(row) > 0 {
            return format!(" {jumps:width$} {distance:digits$x}: ", width = before - 1);
        }
        let is_labelled = match labels.level {
            Labelled::Targets => jumps > 0,
            Labelled::TargetsAndCalls => jumps > 0 || parts.is_call(),
            Labelled::All => true,
        };
        match is_labelled {
            true => format!(" {distance:digits$x}: "),
            false => format!(" {:width$}  ", "", width = before + digits),
        }
    }

    /// The columns of costs and paces: words above them in the first line, if that has room.
    fn costs(&self, row: &Row, first: bool) -> String {
        let mut line = String::new();
        let costs = &self.function.costs;
        let weights = || {
            costs
                .iter()
                .map(|cost| (cost, weight_within(&cost.addresses, row.address, row.end())))
        };
        let is_hit = weights().any(|(cost, weight)| self.text.share.of(weight, cost) != 0.0);
        let known = self.pace.and_then(|pace| pace.ends.get(&row.address));
        let is_title = first && !is_hit && known.is_none();
        let column = self.text.column;
        let width = column.width() * costs.len().max(1);
        for (cost, weight) in weights().filter(|_| is_hit) {
            let _ = match column {
                Column::Percent => write!(line, "{:7.2} ", self.text.share.of(weight, cost)),
                Column::Samples => write!(line, "{:7} ", weight.samples),
                Column::Period => write!(line, "{:11} ", weight.period),
            };
        }
        if !is_hit {
            let _ = write!(
                line,
                "{}",
                Left(if is_title { column.title() } else { "" }, width)
            );
        }
        if self.pace.is_some() {
            let words = |word: &'static str| if is_title { word } else { "" };
            let _ = match known.and_then(|end| end.ipc) {
                Some(ipc) => write!(line, "{ipc:5.2} "),
                None => write!(line, "{:>5} ", words("IPC")),
            };
            let _ = match known.map(|end| end.cycles).filter(|cycles| *cycles > 0) {
                Some(cycles) => write!(line, "{cycles:5} "),
                None => write!(line, "{:>5} ", words("Cycle")),
            };
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use oxperf_listing::Listing;

    use super::*;
    use crate::annotate::{Labels, Share};

    const CODE: [(u64, &str); 6] = [
        (0x1000, "jmp    1008 <f+0x8>"),
        (0x1002, "call   2000 <g>"),
        (0x1007, "inc    %rax"),
        (0x1008, "test   %rax,%rax"),
        (0x100b, "jne    1008 <f+0x8>"),
        (0x100d, "ret"),
    ];

    /// The lines of a function as these labels have them, without blanks at their ends.
    fn lines(labels: Labels) -> Vec<String> {
        let ends = CODE[1..]
            .iter()
            .map(|(address, _)| *address)
            .chain([0x100e]);
        let instructions = CODE.iter().zip(ends).map(|(&(address, text), end)| {
            ListingLine::Instruction(ListedInstruction {
                address,
                bytes: vec![0; (end - address) as usize],
                text: text.to_owned(),
            })
        });
        let function = Annotated {
            object: "o",
            group: None,
            costs: Vec::new(),
            listing: &Listing {
                section: ".text".to_owned(),
                address_digits: 16,
                lines: instructions.collect(),
            },
            callees: &|_| None,
            data: &HashMap::new(),
            source_lines: None,
        };
        let text = AnnotateText {
            column: Column::Percent,
            share: Share::LocalPeriod,
            raw: false,
            coloured: false,
            coloured_code: false,
            labels,
        };
        let mut out = String::new();
        Lines::new(&function, None, &text).write(&mut out);
        out.lines().map(|line| line.trim_end().to_owned()).collect()
    }

    const USUAL: Labels = Labels {
        whole: false,
        level: Labelled::Targets,
        jumps_counted: false,
    };

    #[test]
    fn places_have_the_labels_that_are_asked_for() {
        assert_eq!(
            lines(USUAL),
            [
                "Percent     ↓ jmp  8",
                "            → call g",
                "              inc  %rax",
                "         8:   test %rax,%rax",
                "            ↑ jne  8",
                "            ← ret",
            ]
        );
        let level = |level| lines(Labels { level, ..USUAL });
        assert_eq!(
            level(Labelled::TargetsAndCalls)[1..3],
            ["         2: → call g", "              inc  %rax"]
        );
        assert_eq!(level(Labelled::All)[2], "         7:   inc  %rax");
    }

    #[test]
    fn jumps_to_a_place_are_counted() {
        let counted = lines(Labels {
            jumps_counted: true,
            ..USUAL
        });
        assert_eq!(
            counted[2..4],
            [
                "                inc  %rax",
                "         2 8:   test %rax,%rax"
            ]
        );
        assert_eq!([9, 10, 100].map(jump_digits), [1, 2, 5]);
    }

    #[test]
    fn whole_addresses_stand_beside_all_and_in_targets() {
        let whole = lines(Labels {
            whole: true,
            jumps_counted: true,
            ..USUAL
        });
        assert_eq!(
            whole[..4],
            [
                "Percent  1000: ↓ jmp  1008 <f+0x8>",
                "         1002: → call 2000 <g>",
                "         1007:   inc  %rax",
                "         1008:   test %rax,%rax",
            ]
        );
    }
}
