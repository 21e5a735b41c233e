//! Decodes a recording of the fixtures: `walk CASE [insn|branch|count|ticksN|visits|branches|hop|psb]`.
//!
//! Prints addresses, branches with their times, samples, or how much was found and how long it took.

#[path = "../tests/it/support.rs"]
mod support;

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use intel_pt::{Decoder, EmitOptions, Item, Period, QuickMode};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let case = PathBuf::from(
        arguments
            .next()
            .expect("usage: walk CASE [insn|branch|count]"),
    );
    let what = arguments.next().unwrap_or_else(|| "count".to_owned());
    let recording = support::read(&case.join("perf.data"));
    let symfs = support::follow(&case.join("symfs")).expect("the case has a symfs");
    let mut maps = support::Maps::read(&case.join("maps.txt"), &symfs);
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let ticks = what
        .strip_prefix("ticks")
        .map(|ticks| ticks.parse().expect("a number of ticks"));
    let quick = match what.as_str() {
        "hop" => QuickMode::Addresses,
        "psb" => QuickMode::Psb,
        _ => QuickMode::Walk,
    };
    let wanted = EmitOptions {
        paths: what != "count",
        period: ticks.map(Period::Ticks),
        quick,
        ..EmitOptions::default()
    };
    for buffers in recording.queues.values() {
        let start = Instant::now();
        let mut counted = 0;
        let mut decoder = Decoder::new(recording.config, wanted);
        let mut stretches = buffers.iter().map(|buffer| buffer.stretch());
        loop {
            let item = decoder.next(&mut maps);
            let time = decoder.moment().time.map_or(0, |time| time.0);
            match item {
                Item::End => match stretches.next() {
                    Some(stretch) => decoder.push(stretch),
                    None => break,
                },
                Item::Path if what == "visits" => counted += decoder.path().visits.len(),
                Item::Path if what == "branches" => counted += decoder.branches().count(),
                Item::Path if ticks.is_some() => print_samples(&decoder, &mut out)?,
                Item::Path if what == "insn" => print_instructions(&decoder, &mut out)?,
                Item::Path => print_branches(&decoder, &mut out)?,
                Item::Begin { to, .. } if what == "branch" => {
                    let estimate = decoder.guess().time(0).map_or(0, |time| time.0);
                    writeln!(out, "{estimate} 0 {to:x}")?;
                }
                Item::Async { from, to, .. } if what == "branch" => {
                    writeln!(out, "{time} {from:x} {:x}", to.unwrap_or_default())?;
                }
                Item::Address { ip } => writeln!(out, "{ip:x}")?,
                Item::Error(error) => {
                    let moment = decoder.moment();
                    let time = decoder.guess().time(0).map_or(0, |time| time.0);
                    writeln!(
                        out,
                        "{time} error {:?} at {:x}, trace {:x}",
                        error.kind,
                        error.ip.unwrap_or(0),
                        moment.offset
                    )?;
                }
                _ => {}
            }
        }
        if ["count", "visits", "branches"].contains(&what.as_str()) {
            let instructions = decoder.moment().instructions;
            writeln!(
                out,
                "{instructions} instructions, {counted} {what} in {:?}",
                start.elapsed()
            )?;
        }
    }
    out.flush()
}

fn print_instructions(decoder: &Decoder<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let run = decoder.path();
    for (index, visit) in run.visits.iter().enumerate() {
        let block = decoder.block(visit.block()).instructions();
        let partial = run.partial.filter(|_| index + 1 == run.visits.len());
        let count = partial.map_or(block.len(), |partial| partial as usize);
        for instruction in &block[..count] {
            writeln!(out, "{:x}", instruction.ip)?;
        }
    }
    Ok(())
}

fn print_samples(decoder: &Decoder<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let run = decoder.path();
    for mark in run.marks {
        let block = decoder
            .block(run.visits[mark.visit as usize].block())
            .instructions();
        let time = if mark.visit == 0 {
            run.before
        } else {
            decoder.moment().time
        };
        writeln!(
            out,
            "{} {:x}",
            time.map_or(0, |time| time.0),
            block[mark.instruction as usize].ip
        )?;
    }
    Ok(())
}

fn print_branches(decoder: &Decoder<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let time = |time: Option<intel_pt::Tsc>| time.map_or(0, |time| time.0);
    let run = decoder.path();
    let (before, now) = (time(run.before), time(decoder.moment().time));
    for branch in decoder.branches() {
        let time = if run
            .decision
            .is_some_and(|decision| branch.instructions >= decision)
        {
            now
        } else {
            before
        };
        writeln!(
            out,
            "{time} {:x} {:x}",
            branch.from.ip,
            branch.to.unwrap_or_default()
        )?;
    }
    Ok(())
}
