//! The text of callgrind: for each function its own cost, and for each function it called the calls' cost, address by
//! address with their source lines.
//!
//! Samples cannot count the calls of a function; the number of calls is that of the first event's samples.

use std::collections::BTreeSet;
use std::io::{self, Write};

use oxperf_analysis::function_costs::{CostedFunction, FunctionCosts, Weights};
use oxperf_analysis::stacks::Stacks;
use oxperf_profile::{FrameId, SampleTotals, SourceId};

use super::code::{CodeExport, Column};
use crate::text::sanitize;
use crate::text::unit::WeightUnit;

pub(super) fn write(code: &CodeExport<'_>, out: &mut impl Write) -> io::Result<()> {
    let costs = FunctionCosts::of(code.profile, &Stacks::of(code.events));
    let columns = Column::all(code);
    write_head(code, &columns, out)?;
    let mut writer = Writer {
        code,
        costs: &costs,
        columns: &columns,
        named: BTreeSet::new(),
    };
    for function in 0..costs.functions.len() as u32 {
        writer.function(function, out)?;
    }
    write!(out, "totals:")?;
    write_weights(&columns, &costs.total.0, out)
}

fn write_head(
    code: &CodeExport<'_>,
    columns: &[Column<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(
        out,
        "# callgrind format\nversion: 1\ncreator: oxperf\ncmd: {}",
        sanitize(code.title)
    )?;
    for note in code.lost {
        writeln!(out, "desc: Lost: {}", sanitize(note))?;
    }
    writeln!(out, "positions: instr line")?;
    let only = code.events.len() == 1;
    let names: Vec<(String, String)> = columns.iter().map(|column| names(column, only)).collect();
    for (short, long) in &names {
        writeln!(out, "event: {short} : {}", sanitize(long))?;
    }
    let short: Vec<&str> = names.iter().map(|(short, _)| short.as_str()).collect();
    writeln!(out, "events: {}\n", short.join(" "))
}

/// The short and the long name of a column. Short names are words; those of several events are numbered.
fn names(column: &Column<'_>, only: bool) -> (String, String) {
    let number = if only {
        String::new()
    } else {
        (column.event + 1).to_string()
    };
    let of = if only {
        String::new()
    } else {
        format!(" of {}", column.name)
    };
    match (column.is_period, column.unit()) {
        (false, _) => (format!("Samples{number}"), format!("Number of samples{of}")),
        (true, WeightUnit::Nanoseconds) => (format!("ns{number}"), format!("Nanoseconds{of}")),
        (true, WeightUnit::Count(name)) => (format!("Events{number}"), name.to_owned()),
    }
}

fn write_weights(
    columns: &[Column<'_>],
    weights: &[SampleTotals],
    out: &mut impl Write,
) -> io::Result<()> {
    for column in columns {
        write!(out, " {}", column.value(weights))?;
    }
    writeln!(out)
}

/// The part of a function in a call.
#[derive(Clone, Copy)]
enum CallPart {
    Caller,
    Callee,
}

/// A kind of names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameKind {
    Object,
    File,
    Function,
}

/// Writes functions. Names are written once, and meant by their numbers from then on.
struct Writer<'c, 'a> {
    code: &'c CodeExport<'a>,
    costs: &'c FunctionCosts<'a>,
    columns: &'c [Column<'a>],
    named: BTreeSet<(NameKind, u32)>,
}

impl Writer<'_, '_> {
    fn function(&mut self, function: u32, out: &mut impl Write) -> io::Result<()> {
        let costs = self.costs;
        let all = (FrameId(0), FrameId(u32::MAX));
        let own = costs.own.range((function, all.0)..=(function, all.1));
        let calls = costs
            .calls
            .range((function, 0, all.0)..=(function, u32::MAX, all.1));
        if own.clone().next().is_none() && calls.clone().next().is_none() {
            return Ok(());
        }
        let Some(written) = costs.functions.get(function as usize) else {
            return Ok(());
        };
        self.head(CallPart::Caller, function, out)?;
        let mut file = written.file;
        for ((_, frame), weights) in own {
            self.enter_file(*frame, written, &mut file, out)?;
            self.cost(*frame, weights, out)?;
        }
        for ((_, callee, frame), weights) in calls {
            self.enter_file(*frame, written, &mut file, out)?;
            self.head(CallPart::Callee, *callee, out)?;
            let entry = self.entry(*callee);
            let count = weights.0.first().map_or(0, |weight| weight.samples);
            writeln!(out, "calls={count} {entry:#x} 0")?;
            self.cost(*frame, weights, out)?;
        }
        out.write_all(b"\n")
    }

    /// The address of a function, as its object's own tools know it; 0 where it is not known.
    fn entry(&self, function: u32) -> u64 {
        let frame = self.costs.frames.get(function as usize);
        let entry = frame
            .copied()
            .flatten()
            .and_then(|frame| self.code.entry(frame));
        entry.unwrap_or(0)
    }

    /// A line of costs.
    fn cost(&self, frame: FrameId, weights: &Weights, out: &mut impl Write) -> io::Result<()> {
        let source = self.code.frame(frame).and_then(|frame| frame.source);
        let line = source.and_then(|source| source.number);
        let line = line.map_or(0, |line| line.get());
        write!(out, "{:#x} {line}", self.code.address(frame))?;
        write_weights(self.columns, &weights.0, out)
    }

    /// Costs that follow are of a frame's file: code from another file than the function's.
    fn enter_file(
        &mut self,
        frame: FrameId,
        function: &CostedFunction<'_>,
        file: &mut Option<SourceId>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let source = self.code.frame(frame).and_then(|frame| frame.source);
        let wanted = source.map_or(function.file, |source| Some(source.file));
        if wanted == *file {
            return Ok(());
        }
        *file = wanted;
        let key = if wanted == function.file { "fe" } else { "fi" };
        self.file(key, wanted, out)
    }

    /// The object, file and name of a function.
    fn head(&mut self, part: CallPart, index: u32, out: &mut impl Write) -> io::Result<()> {
        let [object, file, name] = match part {
            CallPart::Caller => ["ob", "fl", "fn"],
            CallPart::Callee => ["cob", "cfi", "cfn"],
        };
        let Some(function) = self.costs.functions.get(index as usize) else {
            return Ok(());
        };
        let dso = function.dso.map_or(0, |dso| dso.0 + 1);
        let path = function.dso.map_or("???", |dso| self.code.path(dso));
        self.name((object, NameKind::Object), dso, path, out)?;
        self.file(file, function.file, out)?;
        let nameless;
        let text = match function.name {
            Some(text) => text,
            None => {
                nameless = self.code.nameless(function.dso);
                &nameless
            }
        };
        self.name((name, NameKind::Function), index, text, out)
    }

    fn file(
        &mut self,
        key: &'static str,
        file: Option<SourceId>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let path = file.and_then(|file| self.code.source_text(file));
        let number = file.filter(|_| path.is_some()).map_or(0, |file| file.0 + 1);
        self.name((key, NameKind::File), number, path.unwrap_or("???"), out)
    }

    fn name(
        &mut self,
        (key, kind): (&'static str, NameKind),
        number: u32,
        text: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let is_new = self.named.insert((kind, number));
        let number = number.saturating_add(1);
        match is_new {
            true => writeln!(out, "{key}=({number}) {}", sanitize(text)),
            false => writeln!(out, "{key}=({number})"),
        }
    }
}
