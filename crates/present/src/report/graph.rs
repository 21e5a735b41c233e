//! Call graphs drawn as trees of lines.

use std::io::Write;
use std::ops::Range;

use oxperf_analysis::hist::{CallBranch, CallTree, Shape, Table};
use oxperf_profile::SampleTotals;
use oxperf_profile::{BranchStepTotals, Frame, FrameId, Profile, ProfileSymbol};

use super::percent::{colour, end_of};
use super::{branch_steps, list};
use crate::text::sanitize;

/// Blanks before a graph.
const MARGIN: usize = 12;
/// How far a graph moves to the right behind a stem.
const STEM: &[u8] = b"---";

/// How call graphs are drawn.
#[derive(Clone, Copy, Debug)]
pub struct GraphText {
    /// The drawing.
    pub shape: Shape,
    /// What stands at a branch.
    pub value: GraphValue,
    /// Most lines of a stem, branches of a fork and chains of a list; `None` for no limit.
    pub limit: Option<usize>,
    /// Leave out the stem's first line because the row names the same symbol: the first key was asked for and is
    /// the symbol.
    pub skip_first: bool,
    /// Show percentages in colours.
    pub coloured: bool,
    /// Source lines stand behind the functions.
    pub with_source: bool,
}

/// What stands at a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphValue {
    /// Its part of all samples, or of the branch above.
    #[default]
    Percent,
    /// The sum of its samples' periods.
    Period,
    /// The number of its samples.
    Count,
}

/// Draws the call graphs of one table.
pub(super) struct Graphs<'a> {
    pub(super) profile: &'a Profile,
    pub(super) text: &'a GraphText,
    /// What stands between the frames of a chain on one line.
    pub(super) separator: &'a [u8],
    total: u64,
}

/// Which levels of a fork still have a line to the left, as bits.
#[derive(Clone, Copy)]
struct Rails {
    depth: u32,
    bits: u32,
}

/// A fork that is being drawn.
struct Fork {
    branches: Range<u32>,
    rails: Rails,
    /// What percentages are parts of.
    whole: u64,
    /// What is left of it after the branches so far.
    remaining: SampleTotals,
    drawn: usize,
}

impl<'a> Graphs<'a> {
    pub(super) fn new(
        profile: &'a Profile,
        table: &Table,
        text: &'a GraphText,
        separator: Option<&'a str>,
    ) -> Graphs<'a> {
        let separator = separator.unwrap_or(";").as_bytes();
        let leader = table
            .events
            .first()
            .and_then(|&event| profile.events.get(event));
        Graphs {
            profile,
            text,
            separator,
            total: leader.map_or(0, |leader| leader.period_total),
        }
    }

    /// Draws the graph of a row of that weight.
    pub(super) fn draw(&self, buffer: &mut Vec<u8>, tree: &CallTree, row: u64) {
        match self.text.shape {
            Shape::Flat => list::flat(self, buffer, tree),
            Shape::Folded => list::folded(self, buffer, tree),
            Shape::Graph => self.tree(buffer, tree, row, self.total),
            Shape::Fractal => self.tree(buffer, tree, row, row),
        }
    }

    fn tree(&self, buffer: &mut Vec<u8>, tree: &CallTree, row: u64, whole: u64) {
        let start = buffer.len();
        let mut margin = MARGIN;
        let mut branches = tree.roots();
        let mut samples = tree.total().samples;
        let only = tree
            .branch(branches.start)
            .filter(|only| branches.len() == 1 && only.total.period == row);
        if let Some(only) = only {
            margin += self.stem(buffer, (tree.frames(only), tree.passed(only)));
            branches = only.children();
            samples = behind(only).samples;
        }
        self.forks(
            buffer,
            tree,
            branches,
            margin,
            SampleTotals {
                period: whole,
                samples,
                ..SampleTotals::default()
            },
        );
        if buffer.len() > start {
            buffer.push(b'\n');
        }
    }

    /// The first frames, as long as everything comes through them. Gives how far to the right the graph goes on.
    fn stem(
        &self,
        buffer: &mut Vec<u8>,
        (frames, passed): (&[FrameId], &[BranchStepTotals]),
    ) -> usize {
        let skipped = usize::from(self.text.skip_first);
        let frames = frames.get(skipped..).unwrap_or_default();
        for (nth, &frame) in frames
            .iter()
            .take(self.text.limit.unwrap_or(usize::MAX))
            .enumerate()
        {
            if nth == 0 {
                blanks(buffer, MARGIN);
                buffer.extend_from_slice(b"|\n");
                blanks(buffer, MARGIN);
                buffer.extend_from_slice(STEM);
            } else {
                blanks(buffer, MARGIN + STEM.len());
            }
            self.line(buffer, frame, passed.get(skipped + nth));
        }
        if frames.is_empty() { 0 } else { STEM.len() }
    }

    fn forks(
        &self,
        buffer: &mut Vec<u8>,
        tree: &CallTree,
        branches: Range<u32>,
        margin: usize,
        whole: SampleTotals,
    ) {
        let mut open = vec![Fork::new(branches, Rails { depth: 1, bits: 1 }, whole)];
        while let Some(fork) = open.last_mut() {
            let next = fork
                .branches
                .next()
                .filter(|_| self.text.limit.is_none_or(|limit| fork.drawn < limit));
            let Some(branch) = next.and_then(|index| tree.branch(index)) else {
                self.rest(buffer, fork, margin);
                open.pop();
                continue;
            };
            let lines = (tree.frames(branch), tree.passed(branch));
            let inner = self.branch(buffer, fork, branch, lines, margin);
            open.push(inner);
        }
    }

    /// Draws a branch and gives the fork at its end.
    fn branch(
        &self,
        buffer: &mut Vec<u8>,
        fork: &mut Fork,
        branch: &CallBranch,
        (frames, passed): (&[FrameId], &[BranchStepTotals]),
        margin: usize,
    ) -> Fork {
        fork.drawn += 1;
        fork.remaining = minus(fork.remaining, branch.total);
        fork.rails.separator(buffer, margin);
        let mut rails = fork.rails;
        let rest_follows = self.text.shape == Shape::Fractal && fork.remaining.period > 0;
        if fork.branches.is_empty() && !rest_follows {
            rails = rails.without_last();
        }
        for (nth, &frame) in frames.iter().enumerate() {
            match nth {
                0 => self.value(buffer, rails, margin, branch, fork.whole),
                _ => rails.indent(buffer, margin),
            }
            self.line(buffer, frame, passed.get(nth));
        }
        let whole = match self.text.shape {
            Shape::Fractal => behind(branch),
            _ => SampleTotals {
                period: fork.whole,
                ..behind(branch)
            },
        };
        Fork::new(branch.children(), rails.deeper(), whole)
    }

    /// What the branches of a fork leave over is shown where percentages are relative.
    fn rest(&self, buffer: &mut Vec<u8>, fork: &Fork, margin: usize) {
        let some = fork.remaining.period > 0 && fork.remaining.period != fork.whole;
        let counted = self.text.value != GraphValue::Count || fork.remaining.samples > 0;
        if self.text.shape != Shape::Fractal || !some || !counted {
            return;
        }
        fork.rails.without_last().lead(buffer, margin);
        self.dashed(buffer, fork.remaining, fork.whole);
        buffer.extend_from_slice(b"[...]\n");
    }

    fn value(
        &self,
        buffer: &mut Vec<u8>,
        rails: Rails,
        margin: usize,
        branch: &CallBranch,
        whole: u64,
    ) {
        rails.lead(buffer, margin);
        self.dashed(buffer, branch.total, whole);
    }

    fn dashed(&self, buffer: &mut Vec<u8>, weight: SampleTotals, whole: u64) {
        buffer.extend_from_slice(b"--");
        self.number(buffer, weight, whole);
        buffer.extend_from_slice(b"--");
    }

    /// A weight as the options want it shown.
    pub(super) fn number(&self, buffer: &mut Vec<u8>, weight: SampleTotals, whole: u64) {
        let percent = if whole == 0 {
            0.0
        } else {
            weight.period as f64 * 100.0 / whole as f64
        };
        // Writing to a vector cannot fail.
        let _ = match self.text.value {
            GraphValue::Percent => {
                let colour = if self.text.coloured {
                    colour(percent)
                } else {
                    b""
                };
                buffer.extend_from_slice(colour);
                let written = write!(buffer, "{percent:.2}%");
                buffer.extend_from_slice(end_of(colour));
                written
            }
            GraphValue::Period => write!(buffer, "{}", weight.period),
            GraphValue::Count => write!(buffer, "{}", weight.samples),
        };
    }

    /// What lists of chains are parts of.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// A frame, and what the branches say that pass it.
    fn line(&self, buffer: &mut Vec<u8>, frame: FrameId, passed: Option<&BranchStepTotals>) {
        self.name(buffer, frame);
        passed
            .iter()
            .for_each(|passed| branch_steps::write(buffer, passed));
        buffer.push(b'\n');
    }

    /// The source line of a frame with a symbol: the distance from the symbol where no line is known.
    fn source(&self, buffer: &mut Vec<u8>, frame: &Frame, symbol: &ProfileSymbol) {
        let text = frame
            .source
            .and_then(|source| self.profile.sources.get(source.line.index()));
        let Some(text) = text.filter(|_| self.text.with_source) else {
            return;
        };
        let distance = text
            .strip_prefix(&symbol.name)
            .filter(|rest| rest.starts_with('+'));
        buffer.push(b' ');
        buffer.extend_from_slice(sanitize(distance.unwrap_or(text)).as_bytes());
    }

    /// A frame's symbol, or its address as it was recorded.
    pub(super) fn name(&self, buffer: &mut Vec<u8>, frame: FrameId) {
        let frame = self.profile.frames.get(frame.index());
        let symbol = frame.and_then(|frame| self.profile.symbols.get(frame.symbol?.index()));
        match (symbol, frame.map_or(0, |frame| frame.address)) {
            (Some(symbol), _) => {
                buffer.extend_from_slice(sanitize(&symbol.name).as_bytes());
                frame
                    .iter()
                    .for_each(|frame| self.source(buffer, frame, symbol));
                buffer.extend_from_slice(if symbol.inlined { b" (inlined)" } else { b"" });
            }
            // As C does it, zero goes without 0x.
            (None, 0) => buffer.push(b'0'),
            // Writing to a vector cannot fail.
            (None, address) => drop(write!(buffer, "{address:#x}")),
        }
    }
}

impl Fork {
    fn new(branches: Range<u32>, rails: Rails, whole: SampleTotals) -> Fork {
        Fork {
            branches,
            rails,
            whole: whole.period,
            remaining: whole,
            drawn: 0,
        }
    }
}

/// perf keeps the rails in a word of 32 bits that it shifts by the depth: below level 32 they begin anew. The text is
/// the same here.
impl Rails {
    fn bit(level: u32) -> u32 {
        1u32.wrapping_shl(level)
    }

    fn without_last(self) -> Rails {
        Rails {
            bits: self.bits & !Rails::bit(self.depth - 1),
            ..self
        }
    }

    fn deeper(self) -> Rails {
        Rails {
            depth: self.depth + 1,
            bits: self.bits | Rails::bit(self.depth),
        }
    }

    fn rail(self, level: u32) -> u8 {
        if self.bits & Rails::bit(level) != 0 {
            b'|'
        } else {
            b' '
        }
    }

    /// The line between branches.
    fn separator(self, buffer: &mut Vec<u8>, margin: usize) {
        self.indent(buffer, margin);
        buffer.push(b'\n');
    }

    /// What stands before a line that goes on with a branch.
    fn indent(self, buffer: &mut Vec<u8>, margin: usize) {
        self.lead(buffer, margin);
        blanks(buffer, 10);
    }

    /// What stands before the first line of a branch.
    fn lead(self, buffer: &mut Vec<u8>, margin: usize) {
        blanks(buffer, margin);
        for level in 0..self.depth {
            buffer.push(self.rail(level));
            if level + 1 < self.depth {
                blanks(buffer, 10);
            }
        }
    }
}

/// What goes on behind a branch.
fn behind(branch: &CallBranch) -> SampleTotals {
    minus(branch.total, branch.own)
}

fn minus(mut from: SampleTotals, part: SampleTotals) -> SampleTotals {
    from.period = from.period.saturating_sub(part.period);
    from.samples = from.samples.saturating_sub(part.samples);
    from
}

/// Appends blanks.
pub(super) fn blanks(buffer: &mut Vec<u8>, count: usize) {
    buffer.resize(buffer.len() + count, b' ');
}
