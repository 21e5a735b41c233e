//! The call graph of a row as lines that open.

use std::collections::BTreeSet;

use oxperf_analysis::hist::{CallBranch, CallTree};
use oxperf_profile::FrameId;
use oxperf_profile::SampleTotals;

/// Deepest level that moves a line to the right: a screen is not wider.
const DEEPEST_INDENT: usize = 30;

/// A line of a call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallLine {
    /// Levels to the right.
    pub(crate) level: usize,
    /// The branch, where the line is the first of one.
    pub(crate) branch: Option<u32>,
    /// The sign before the line.
    pub(crate) sign: Sign,
    /// The called function.
    pub(crate) frame: FrameId,
    /// The branch's weight and what it is a part of, where it has siblings.
    pub(crate) part: Option<(SampleTotals, u64)>,
}

/// The sign of a line that opens, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// There is nothing behind it.
    Leaf,
    /// It is closed.
    Closed,
    /// It is open.
    Open,
}

impl Sign {
    /// The sign as a character.
    pub(crate) fn letter(self) -> char {
        match self {
            Sign::Leaf => ' ',
            Sign::Closed => '+',
            Sign::Open => '-',
        }
    }
}

/// The call graph of one row while it is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// Branches whose callees are shown.
    open: BTreeSet<u32>,
    lines: Vec<CallLine>,
}

impl Calls {
    /// A row just opened: its first branches, and what lies behind a single one.
    pub(crate) fn of(tree: &CallTree, grows: Growth) -> Calls {
        let mut calls = Calls::default();
        let mut branches = tree.roots();
        while branches.len() == 1 {
            let Some(only) = tree.branch(branches.start) else {
                break;
            };
            calls.open.insert(branches.start);
            branches = only.children();
        }
        calls.layout(tree, grows);
        calls
    }

    /// The whole graph, open.
    pub(crate) fn all_of(tree: &CallTree, grows: Growth) -> Calls {
        let mut calls = Calls::default();
        let mut found: Vec<u32> = tree.roots().collect();
        while let Some(index) = found.pop() {
            calls.open.insert(index);
            found.extend(
                tree.branch(index)
                    .into_iter()
                    .flat_map(CallBranch::children),
            );
        }
        calls.layout(tree, grows);
        calls
    }

    /// The lines.
    pub(crate) fn lines(&self) -> &[CallLine] {
        &self.lines
    }

    /// Opens or closes the branch of a line. A line within a branch stands for it.
    pub(crate) fn toggle(&mut self, line: usize, tree: &CallTree, grows: Growth) {
        let before = self.lines.get(..=line).unwrap_or_default();
        let Some(branch) = before.iter().rev().find_map(|line| line.branch) else {
            return;
        };
        if !self.open.remove(&branch) {
            self.open.insert(branch);
        }
        self.layout(tree, grows);
    }

    fn layout(&mut self, tree: &CallTree, grows: Growth) {
        self.lines.clear();
        let mut stack: Vec<Bough> = boughs(tree.roots(), 0, grows.whole);
        while let Some(bough) = stack.pop() {
            let Some(branch) = tree.branch(bough.index) else {
                continue;
            };
            let open = self.open.contains(&bough.index);
            self.draw(&bough, branch, tree.frames(branch), open);
            if open {
                let whole = if grows.relative {
                    behind(branch)
                } else {
                    grows.whole
                };
                stack.extend(boughs(branch.children(), bough.level + 1, whole));
            }
        }
    }

    fn draw(&mut self, bough: &Bough, branch: &CallBranch, frames: &[FrameId], open: bool) {
        let opens = frames.len() > 1 || !branch.children().is_empty();
        let sign = match (opens, open) {
            (false, _) => Sign::Leaf,
            (true, false) => Sign::Closed,
            (true, true) => Sign::Open,
        };
        let level = bough.level.min(DEEPEST_INDENT);
        let shown = if open { frames.len() } else { 1 };
        for (nth, &frame) in frames.iter().take(shown).enumerate() {
            self.lines.push(CallLine {
                level,
                branch: (nth == 0).then_some(bough.index),
                sign: if nth == 0 { sign } else { Sign::Leaf },
                frame,
                part: bough
                    .whole
                    .filter(|_| nth == 0)
                    .map(|whole| (branch.total, whole)),
            });
        }
    }
}

/// The whole of the shares at branches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// All, or what the row has.
    pub(crate) whole: u64,
    /// A branch is a part of the branch above.
    pub(crate) relative: bool,
}

/// A branch that is to be drawn.
struct Bough {
    index: u32,
    level: usize,
    whole: Option<u64>,
}

/// The branches of a fork, the first last.
fn boughs(branches: std::ops::Range<u32>, level: usize, whole: u64) -> Vec<Bough> {
    let whole = (branches.len() > 1).then_some(whole);
    branches
        .rev()
        .map(|index| Bough {
            index,
            level,
            whole,
        })
        .collect()
}

/// The weight that goes on behind a branch.
fn behind(branch: &CallBranch) -> u64 {
    branch.total.period.saturating_sub(branch.own.period)
}
