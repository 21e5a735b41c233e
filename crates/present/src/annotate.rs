//! `annotate --stdio`: the instructions of a function with what each cost.
//!
//! The layout is perf 7.2's to the byte.

mod compact;
mod data;
mod instruction;
mod statistics;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use oxperf_listing::{ListedInstruction, Listing, ListingLine};
use oxperf_profile::SampleTotals;

use crate::report::colour_of;
use crate::text::padding::{Blanks, Left};
use crate::text::sanitize;

pub use compact::{CompactTitle, compact};
pub use data::{AnnotatedData, DataCost, data_type};
pub use statistics::{
    InstructionStatistics, TypeStatistics, Unknown, instruction_statistics, type_statistics,
};

/// The content of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Hundredths of the total.
    Percent,
    /// Numbers of samples.
    Samples,
    /// Sums of periods.
    Period,
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Column::Percent => "Percent",
            Column::Samples => "Samples",
            Column::Period => "Period",
        }
    }

    fn width(self) -> usize {
        match self {
            Column::Percent | Column::Samples => 8,
            Column::Period => 12,
        }
    }
}

/// The whole of percentages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// The periods of the function.
    LocalPeriod,
    /// The samples of the function.
    LocalHits,
    /// The periods of the event.
    GlobalPeriod,
    /// The samples of the event.
    GlobalHits,
}

impl Share {
    /// The share of a name of `--percent-type`, which may put its words in either order.
    pub fn parse(name: &str) -> Option<Share> {
        match name {
            "local-period" | "period-local" => Some(Share::LocalPeriod),
            "local-hits" | "hits-local" => Some(Share::LocalHits),
            "global-period" | "period-global" => Some(Share::GlobalPeriod),
            "global-hits" | "hits-global" => Some(Share::GlobalHits),
            _ => None,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Share::LocalPeriod => "local period",
            Share::LocalHits => "local hits",
            Share::GlobalPeriod => "global period",
            Share::GlobalHits => "global hits",
        }
    }

    /// Of what has been counted: how much of which total.
    fn of(self, weight: SampleTotals, cost: &Cost<'_>) -> f64 {
        let (part, whole) = match self {
            Share::LocalPeriod => (weight.period, cost.function.period),
            Share::LocalHits => (weight.samples, cost.function.samples),
            Share::GlobalPeriod => (weight.period, cost.event.period),
            Share::GlobalHits => (weight.samples, cost.event.samples),
        };
        if whole == 0 {
            0.0
        } else {
            100.0 * part as f64 / whole as f64
        }
    }
}

/// The instructions of the short form that have a distance beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labelled {
    /// Those that jumps lead to.
    Targets,
    /// Those, and calls.
    TargetsAndCalls,
    /// All.
    All,
}

/// The addresses in the short form (`--stdio2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    /// Addresses as the object has them, beside all instructions and as targets; else distances from the function's
    /// beginning.
    pub whole: bool,
    /// The instructions with a distance.
    pub level: Labelled,
    /// The number of jumps to a place stands before it.
    pub jumps_counted: bool,
}

/// The counts of one event in a function.
#[derive(Clone, Debug)]
pub struct Cost<'a> {
    /// The event's name.
    pub name: &'a str,
    /// Weights by virtual address, ascending.
    pub addresses: Vec<(u64, SampleTotals)>,
    /// The function's weight.
    pub function: SampleTotals,
    /// The event's.
    pub event: SampleTotals,
}

/// A function to show.
pub struct Annotated<'a> {
    /// Its object, as the title names it.
    pub object: &'a str,
    /// The name of the group that the events belong to, if they were recorded as one.
    pub group: Option<&'a str>,
    /// The events, a column each; the title counts the first one's samples.
    pub costs: Vec<Cost<'a>>,
    /// Its code.
    pub listing: &'a Listing,
    /// The name of the function at a virtual address, if it is known; untrusted.
    pub callees: &'a dyn Fn(u64) -> Option<String>,
    /// The data that instructions work on, by their addresses; untrusted.
    pub data: &'a HashMap<u64, String>,
    /// With names of source lines: which one the code at an address comes from, `file.c:12`.
    pub source_lines: Option<SourceLines<'a>>,
}

/// Source lines that are named beside the instructions and summed up before them.
pub struct SourceLines<'a> {
    /// The object's whole path.
    pub object: &'a str,
    /// The line of the code at a virtual address.
    pub of: &'a dyn Fn(u64) -> Option<String>,
}

impl std::fmt::Debug for SourceLines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceLines")
            .field("object", &self.object)
            .finish_non_exhaustive()
    }
}

/// The look of functions.
#[derive(Clone, Copy, Debug)]
pub struct AnnotateText {
    /// The content of the columns.
    pub column: Column,
    /// The whole of percentages.
    pub share: Share,
    /// Show the bytes of instructions.
    pub raw: bool,
    /// Show costs in colours.
    pub coloured: bool,
    /// Addresses and instructions are in colours, too.
    pub coloured_code: bool,
    /// The addresses in the short form.
    pub labels: Labels,
}

/// Writes one function.
pub fn annotate(
    out: &mut dyn Write,
    function: &Annotated<'_>,
    text: &AnnotateText,
) -> io::Result<()> {
    let mut writer = Writer::new(function, text);
    writer.summary();
    writer.title();
    // The lines that a disassembler begins with count, too.
    (0..3).for_each(|_| writer.source_line(""));
    writer.source_line(&format!(
        "Disassembly of section {}:",
        function.listing.section
    ));
    for line in &function.listing.lines {
        match line {
            ListingLine::Label { address, name } => {
                writer.source_line("");
                let digits = function.listing.address_digits;
                writer.source_line(&format!("{address:0digits$x} <{name}>:"));
            }
            ListingLine::Instruction(instruction) => writer.instruction(instruction),
            ListingLine::Source(text) => writer.source_line(text),
            ListingLine::Zeros => writer.source_line("..."),
        }
    }
    out.write_all(writer.text.as_bytes())
}

struct Writer<'a> {
    function: &'a Annotated<'a>,
    options: &'a AnnotateText,
    /// Digits of the longest address.
    digits: usize,
    /// Number of the next line.
    number: usize,
    /// The source line that was named last.
    named: Option<String>,
    text: String,
}

/// Hundredths from which on source lines are named.
const NAMED_FROM: f64 = 0.5;

/// Characters by which the line below the title is longer than it.
const BEHIND_TITLE: usize = 5;
/// Columns between tab stops.
const TAB: usize = 8;
/// Bytes of an instruction in one line.
const RAW_BYTES: usize = 7;
/// Room for them, up to a tab stop.
const RAW_WIDTH: usize = 24;

impl<'a> Writer<'a> {
    fn new(function: &'a Annotated<'a>, options: &'a AnnotateText) -> Writer<'a> {
        let addresses = function.listing.lines.iter().filter_map(|line| match line {
            ListingLine::Instruction(instruction) => Some(instruction.address),
            _ => None,
        });
        let digits = addresses
            .max()
            .map_or(1, |address| format!("{address:x}").len());
        Writer {
            function,
            options,
            digits,
            number: 0,
            named: None,
            text: String::new(),
        }
    }

    fn width(&self) -> usize {
        self.options.column.width() * self.function.costs.len().max(1)
    }

    fn title(&mut self) {
        let Annotated {
            object,
            group,
            costs,
            ..
        } = self.function;
        let events: Vec<_> = costs.iter().map(|cost| sanitize(cost.name)).collect();
        let events = match group {
            Some(name) => format!("{} {{ {} }}", sanitize(name), events.join(", ")),
            None => events.join(", "),
        };
        let samples = costs.first().map_or(0, |cost| cost.function.samples);
        let width = self.width();
        let title = format!(
            " {}|\tSource code & Disassembly of {} for {events} ({samples} samples, percent: {})",
            Left(self.options.column.title(), width),
            sanitize(object),
            self.options.share.text(),
        );
        let dashes = "-".repeat(title.chars().count() + BEHIND_TITLE);
        self.text.push_str(&format!("{title}\n{dashes}\n"));
    }

    /// A line that is no instruction: nothing before the colon, its number behind it.
    fn source_line(&mut self, line: &str) {
        let (width, digits) = (self.width() + 1, self.digits);
        let number = self.number;
        self.number += 1;
        let _ = match line {
            "" => writeln!(self.text, "{}:", Blanks(width)),
            line => {
                writeln!(
                    self.text,
                    "{}: {number:<digits$} {}",
                    Blanks(width),
                    sanitize(line.trim_start())
                )
            }
        };
    }

    /// The source lines with what their instructions cost together, as far as those are named below.
    fn summary(&mut self) {
        let Some(source) = &self.function.source_lines else {
            return;
        };
        let mut sums: Vec<(String, Vec<f64>)> = Vec::new();
        for line in &self.function.listing.lines {
            let ListingLine::Instruction(instruction) = line else {
                continue;
            };
            let shares = self.shares(instruction);
            if shares.iter().all(|share| *share <= NAMED_FROM) {
                continue;
            }
            let Some(name) = (source.of)(instruction.address) else {
                continue;
            };
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum
                    .iter_mut()
                    .zip(shares)
                    .for_each(|(sum, share)| *sum += share),
                None => sums.push((name, shares)),
            }
        }
        sums.sort_by(|(a, weight), (b, other)| {
            other
                .partial_cmp(weight)
                .unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| b.cmp(a))
        });
        let _ = writeln!(
            self.text,
            "\nSorted summary for file {}\n{}\n",
            sanitize(source.object),
            "-".repeat(46)
        );
        if sums.is_empty() {
            let _ = writeln!(self.text, " Nothing higher than {NAMED_FROM:.1}%");
        }
        for (name, shares) in sums {
            shares
                .iter()
                .for_each(|&share| self.push_coloured(share, &format!(" {share:7.2}")));
            self.push_coloured(most(&shares), &format!(" {}\n", sanitize(&name)));
        }
    }

    fn shares(&self, instruction: &ListedInstruction) -> Vec<f64> {
        let end = instruction
            .address
            .saturating_add(instruction.bytes.len() as u64);
        let costs = self.function.costs.iter();
        let share = |cost: &Cost<'_>| {
            self.options.share.of(
                weight_within(&cost.addresses, instruction.address, end),
                cost,
            )
        };
        costs.map(share).collect()
    }

    /// The source line of an instruction that cost something, unless the one before it was named for the same.
    fn source_name(&mut self, instruction: &ListedInstruction) -> String {
        let Some(source) = &self.function.source_lines else {
            return String::new();
        };
        let most = most(&self.shares(instruction));
        let Some(name) = (source.of)(instruction.address).filter(|_| most > NAMED_FROM) else {
            return String::new();
        };
        if self.named.as_ref() == Some(&name) {
            return String::new();
        }
        let [colour, end] = self.colour(most);
        let text = format!("{colour} // {}{end}", sanitize(&name));
        self.named = Some(name);
        text
    }

    /// With its bytes an instruction takes a line for every few of them.
    fn instruction(&mut self, instruction: &ListedInstruction) {
        let ListedInstruction {
            address,
            bytes,
            text,
        } = instruction;
        let text = sanitize(text.trim_end());
        let source = data_words(self.function, *address) + &self.source_name(instruction);
        if !self.options.raw {
            self.costs(*address, bytes.len());
            self.code(*address, &text);
            return self.text.push_str(&format!("{source}\n"));
        }
        for (row, part) in (0..).zip(bytes.chunks(RAW_BYTES)) {
            let address = address.wrapping_add(row * RAW_BYTES as u64);
            self.costs(address, part.len());
            let raw = raw_bytes(part);
            match row {
                0 => self.code(address, &format!("{raw}{text}")),
                _ => self.code(address, raw.trim_end()),
            }
            self.text.push_str(if row == 0 { &source } else { "" });
            self.text.push('\n');
        }
    }

    fn costs(&mut self, address: u64, size: usize) {
        self.number += 1;
        for cost in &self.function.costs {
            let weight = weight_within(
                &cost.addresses,
                address,
                address.saturating_add(size as u64),
            );
            let share = self.options.share.of(weight, cost);
            let text = match self.options.column {
                Column::Percent => format!(" {share:7.2}"),
                Column::Samples => format!(" {:7}", weight.samples),
                Column::Period => format!(" {:11}", weight.period),
            };
            self.push_coloured(share, &text);
        }
    }

    /// An address and what stands there.
    fn code(&mut self, address: u64, text: &str) {
        let (address, digits) = (format!("{address:x}"), self.digits);
        let gap = TAB - (address.len() + 1) % TAB;
        let [address_colour, text_colour, end] = match self.options.coloured_code {
            true => ["\x1b[35m", "\x1b[34m", "\x1b[m"],
            false => [""; 3],
        };
        let _ = write!(
            self.text,
            " : {address_colour}  {address:>digits$}:{end}{text_colour}{:gap$}{text}{end}",
            ""
        );
    }

    /// The colour of a share, and what ends it.
    fn colour(&self, share: f64) -> [&'static str; 2] {
        match self.options.coloured {
            true => colour_of(share),
            false => [""; 2],
        }
    }

    fn push_coloured(&mut self, share: f64, text: &str) {
        let [colour, end] = self.colour(share);
        self.text.extend([colour, text, end]);
    }
}

/// The words behind an instruction for the data that it works on.
fn data_words(function: &Annotated<'_>, address: u64) -> String {
    let words = function.data.get(&address);
    words
        .map(|words| format!("\t\t# data-type: {}", sanitize(words)))
        .unwrap_or_default()
}

fn most(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(0.0, f64::max)
}

/// The bytes of an instruction, or some of them, up to the column of its text.
fn raw_bytes(bytes: &[u8]) -> String {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
    format!("{text:<RAW_WIDTH$}")
}

fn weight_within(addresses: &[(u64, SampleTotals)], start: u64, end: u64) -> SampleTotals {
    let from = addresses.partition_point(|(address, _)| *address < start);
    let mut sum = SampleTotals::default();
    addresses[from..]
        .iter()
        .take_while(|(address, _)| *address < end)
        .for_each(|(_, weight)| sum += *weight);
    sum
}
