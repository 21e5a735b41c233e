//! Call graphs drawn as trees of lines.

use std::ops::Range;

use oxperf_analysis::hist::{CallBranch, CallTree, Shape};
use oxperf_profile::{BranchStepTotals, FrameId, SampleTotals};

use super::GraphValue;
use super::labels::GraphLabels;
use super::rails::Rails;
use crate::text::number::pad;

/// Blanks before a graph.
const MARGIN: usize = 12;
/// The beginning of a stem, and how far a graph moves to the right behind it.
const STEM: &[u8] = b"---";

/// The graph of one row.
pub(super) struct TreeDrawing<'d> {
    pub(super) labels: &'d GraphLabels<'d>,
    pub(super) buffer: &'d mut Vec<u8>,
    pub(super) tree: &'d CallTree,
}

/// A fork that is being drawn.
struct Fork {
    branches: Range<u32>,
    rails: Rails,
    /// The whole of percentages.
    whole: u64,
    /// The rest of it after the branches so far.
    remaining: SampleTotals,
    drawn: usize,
}

impl TreeDrawing<'_> {
    /// Draws the graph of a row of weight `row`; percentages are of `whole`.
    pub(super) fn draw(&mut self, row: u64, whole: u64) {
        let start = self.buffer.len();
        let tree = self.tree;
        let mut margin = MARGIN;
        let mut branches = tree.roots();
        let mut samples = tree.total().samples;
        let only = tree
            .branch(branches.start)
            .filter(|only| branches.len() == 1 && only.total.period == row);
        if let Some(only) = only {
            margin += self.stem(tree.frames(only), tree.passed(only));
            branches = only.children();
            samples = behind(only).samples;
        }
        let whole = SampleTotals {
            period: whole,
            samples,
            ..SampleTotals::default()
        };
        self.forks(branches, margin, whole);
        if self.buffer.len() > start {
            self.buffer.push(b'\n');
        }
    }

    /// Draws the first frames, as long as everything comes through them; gives how far to the right the graph goes on.
    fn stem(&mut self, frames: &[FrameId], passed: &[BranchStepTotals]) -> usize {
        let text = self.labels.text;
        let skipped = usize::from(text.skip_first);
        let frames = frames.get(skipped..).unwrap_or_default();
        let limit = text.limit.unwrap_or(usize::MAX);
        for (nth, &frame) in frames.iter().take(limit).enumerate() {
            if nth == 0 {
                pad(self.buffer, MARGIN);
                self.buffer.extend_from_slice(b"|\n");
                pad(self.buffer, MARGIN);
                self.buffer.extend_from_slice(STEM);
            } else {
                pad(self.buffer, MARGIN + STEM.len());
            }
            self.labels
                .line(self.buffer, frame, passed.get(skipped + nth));
        }
        if frames.is_empty() { 0 } else { STEM.len() }
    }

    fn forks(&mut self, branches: Range<u32>, margin: usize, whole: SampleTotals) {
        let limit = self.labels.text.limit;
        let mut open = vec![Fork::new(branches, Rails::FIRST, whole)];
        while let Some(fork) = open.last_mut() {
            let next = fork
                .branches
                .next()
                .filter(|_| limit.is_none_or(|limit| fork.drawn < limit));
            let Some(branch) = next.and_then(|index| self.tree.branch(index)) else {
                self.rest(fork, margin);
                open.pop();
                continue;
            };
            let inner = self.branch(fork, branch, margin);
            open.push(inner);
        }
    }

    /// Draws a branch and gives the fork at its end.
    fn branch(&mut self, fork: &mut Fork, branch: &CallBranch, margin: usize) -> Fork {
        let shape = self.labels.text.shape;
        fork.drawn += 1;
        fork.remaining = minus(fork.remaining, branch.total);
        fork.rails.separator(self.buffer, margin);
        let mut rails = fork.rails;
        let rest_follows = shape == Shape::Fractal && fork.remaining.period > 0;
        if fork.branches.is_empty() && !rest_follows {
            rails = rails.without_last();
        }
        let passed = self.tree.passed(branch);
        for (nth, &frame) in self.tree.frames(branch).iter().enumerate() {
            if nth == 0 {
                rails.lead(self.buffer, margin);
                self.dashed(branch.total, fork.whole);
            } else {
                rails.indent(self.buffer, margin);
            }
            self.labels.line(self.buffer, frame, passed.get(nth));
        }
        let whole = match shape {
            Shape::Fractal => behind(branch),
            _ => SampleTotals {
                period: fork.whole,
                ..behind(branch)
            },
        };
        Fork::new(branch.children(), rails.deeper(), whole)
    }

    /// Draws the part that the branches of a fork leave over, where percentages are relative.
    fn rest(&mut self, fork: &Fork, margin: usize) {
        let text = self.labels.text;
        let some = fork.remaining.period > 0 && fork.remaining.period != fork.whole;
        let counted = text.value != GraphValue::Count || fork.remaining.samples > 0;
        if text.shape != Shape::Fractal || !some || !counted {
            return;
        }
        fork.rails.without_last().lead(self.buffer, margin);
        self.dashed(fork.remaining, fork.whole);
        self.buffer.extend_from_slice(b"[...]\n");
    }

    fn dashed(&mut self, weight: SampleTotals, whole: u64) {
        self.buffer.extend_from_slice(b"--");
        self.labels.number(self.buffer, weight, whole);
        self.buffer.extend_from_slice(b"--");
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

/// The weight that goes on behind a branch.
fn behind(branch: &CallBranch) -> SampleTotals {
    minus(branch.total, branch.own)
}

fn minus(mut from: SampleTotals, part: SampleTotals) -> SampleTotals {
    from.period = from.period.saturating_sub(part.period);
    from.samples = from.samples.saturating_sub(part.samples);
    from
}
