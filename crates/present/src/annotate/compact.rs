//! `annotate --stdio2`: the lines of perf's browser as text. Only instructions that cost something have numbers, jumps have
//! arrows and lead to distances from the function's beginning, and branches give the speed of the code.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

use oxperf_listing::{ListedInstruction, ListingLine};
use oxperf_profile::FunctionIpc;

use super::instruction::Parts;
use super::{
    AnnotateText, Annotated, Column, RAW_BYTES, Writer, data_words, raw_bytes, weight_within,
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
    /// Distances from the beginning that jumps lead to.
    targets: Vec<u64>,
    /// Characters of the longest mnemonic, and of the longest distance.
    widths: (usize, usize),
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
        let name_width = parts()
            .map(|parts| parts.name.chars().count())
            .max()
            .unwrap_or(0);
        let widths = (
            name_width,
            format!("{:x}", range.end.saturating_sub(range.start)).len(),
        );
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
            // As wide again, in blanks: perf fills lines up to a width that it does not have.
            let _ = writeln!(out, "{line}{}", Left(data, line.chars().count()));
        }
    }

    fn line(&self, row: &Row, first: bool) -> String {
        let mut line = self.costs(row, first);
        let parts = Parts::new(&row.text);
        let distance = row.address.wrapping_sub(self.range.start);
        let (names, digits) = self.widths;
        let _ = match self.targets.binary_search(&distance) {
            Ok(_) => write!(line, " {distance:digits$x}: "),
            Err(_) => write!(line, " {:digits$}  ", ""),
        };
        line.push_str(parts.arrow(row.address, &self.range).text());
        line.push_str(&sanitize(&parts.short(
            names,
            &self.range,
            self.function.callees,
        )));
        line
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
