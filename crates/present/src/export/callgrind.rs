//! The text of callgrind: for each function its own cost, and for each function it called the calls' cost.
//!
//! Samples cannot count the calls of a function; the number of calls is that of samples.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use oxperf_analysis::flame::FlameWeight;

use super::Exported;
use crate::text::sanitize;
use crate::text::unit::WeightUnit;

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let costs = Costs::of(exported);
    write_head(exported, out)?;
    let mut names = Names::default();
    for (frame, own) in (0u32..).zip(&costs.own) {
        let mut calls = costs.calls.range((frame, 0)..=(frame, u32::MAX)).peekable();
        if exported.is_thread(frame) || (own.samples == 0 && calls.peek().is_none()) {
            continue;
        }
        names.write(CallPart::Caller, exported, frame, out)?;
        writeln!(out, "0 {} {}", own.samples, own.value)?;
        for ((_, callee), cost) in calls {
            names.write(CallPart::Callee, exported, *callee, out)?;
            writeln!(
                out,
                "calls={} 0\n0 {} {}",
                cost.samples, cost.samples, cost.value
            )?;
        }
        out.write_all(b"\n")?;
    }
    let total = exported.tree.total();
    writeln!(out, "totals: {} {}", total.samples, total.value)
}

fn write_head(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let (event, long) = match exported.unit() {
        WeightUnit::Nanoseconds => ("ns", "Nanoseconds".to_owned()),
        WeightUnit::Count(name) => ("Events", sanitize(name).into_owned()),
    };
    writeln!(
        out,
        "# callgrind format\nversion: 1\ncreator: oxperf\ncmd: {}",
        sanitize(exported.title)
    )?;
    for note in exported.lost {
        writeln!(out, "desc: Lost: {}", sanitize(note))?;
    }
    writeln!(
        out,
        "positions: line\nevent: Samples : Number of samples\nevent: {event} : {long}"
    )?;
    writeln!(out, "events: Samples {event}\n\nfl=(1) ???")
}

/// The costs of functions, their own and through others.
struct Costs {
    own: Vec<FlameWeight>,
    /// By caller and callee.
    calls: BTreeMap<(u32, u32), FlameWeight>,
}

impl Costs {
    fn of(exported: &Exported<'_>) -> Costs {
        let tree = exported.tree;
        let mut costs = Costs {
            own: vec![FlameWeight::default(); tree.frames.len()],
            calls: BTreeMap::new(),
        };
        for (index, node) in (0u32..).zip(&tree.nodes) {
            if let Some(own) = costs.own.get_mut(node.frame as usize) {
                own.add(node.own);
            }
            let caller = node
                .parent
                .and_then(|parent| tree.nodes.get(parent as usize));
            if let Some(caller) = caller
                .map(|caller| caller.frame)
                .filter(|&frame| !exported.is_thread(frame))
                && !repeats(exported, index, caller, node.frame)
            {
                costs
                    .calls
                    .entry((caller, node.frame))
                    .or_default()
                    .add(node.total);
            }
        }
        costs
    }
}

/// True if the same call stands further out on the stack already: its cost holds this one's.
fn repeats(exported: &Exported<'_>, node: u32, caller: u32, callee: u32) -> bool {
    let mut inner = None;
    exported
        .functions(node)
        .skip(1)
        .any(|frame| inner.replace(frame) == Some(callee) && frame == caller)
}

/// The part of a function in a call.
#[derive(Clone, Copy)]
enum CallPart {
    Caller,
    Callee,
}

/// Names are written once, and meant by their numbers from then on.
#[derive(Default)]
struct Names {
    objects: BTreeSet<u32>,
    functions: BTreeSet<u32>,
}

impl Names {
    fn write(
        &mut self,
        part: CallPart,
        exported: &Exported<'_>,
        index: u32,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (object, function) = match part {
            CallPart::Caller => ("ob", "fn"),
            CallPart::Callee => ("cob", "cfn"),
        };
        let frame = &exported.tree.frames[index as usize];
        let dso = frame.dso.map_or(0, |dso| dso + 1);
        match self.objects.insert(dso) {
            true => writeln!(
                out,
                "{object}=({dso}) {}",
                sanitize(exported.object(index).unwrap_or("???"))
            )?,
            false => writeln!(out, "{object}=({dso})")?,
        }
        match self.functions.insert(index) {
            true => writeln!(
                out,
                "{function}=({index}) {}",
                sanitize(&exported.label(index))
            ),
            false => writeln!(out, "{function}=({index})"),
        }
    }
}
