//! The cct call graph.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::slice::from_ref;

use super::super::callgraph_nodes::{GraphNodes, NodeAddress};
use super::super::rbtree::insertion_order;
use super::frontier::{Ground, Item};
use super::{CallGraphOptions, Shape};
use oxperf_profile::SampleTotals;
use oxperf_profile::{BranchStepTotals, FrameId};

/// A row's call graph: branches in the order they are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTree {
    branches: Vec<CallBranch>,
    frames: Vec<FrameId>,
    roots: Range<u32>,
    total: SampleTotals,
    ends: Vec<u32>,
    /// What branches say at each of `frames`; nothing where chains hold none.
    passed: Vec<BranchStepTotals>,
}

/// A run of frames without a fork, and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBranch {
    /// Samples that came through all frames of the run.
    pub total: SampleTotals,
    /// Samples whose chains ended with it.
    pub own: SampleTotals,
    frames: Range<u32>,
    children: Range<u32>,
    parent: Option<u32>,
}

impl CallTree {
    /// True if nothing is to be drawn.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The indices of the first branches.
    pub fn roots(&self) -> Range<u32> {
        self.roots.clone()
    }

    /// Samples of all chains, those of branches that are left out too.
    pub fn total(&self) -> SampleTotals {
        self.total
    }

    /// A branch; `None` for an index that the tree did not give out.
    pub fn branch(&self, index: u32) -> Option<&CallBranch> {
        self.branches.get(index as usize)
    }

    /// The frames of a branch.
    pub fn frames(&self, branch: &CallBranch) -> &[FrameId] {
        self.frames
            .get(branch.frames.start as usize..branch.frames.end as usize)
            .unwrap_or(&[])
    }

    /// What branches say at each of these frames; nothing where chains hold none.
    pub fn passed(&self, branch: &CallBranch) -> &[BranchStepTotals] {
        self.passed.get(branch.places()).unwrap_or(&[])
    }

    /// The frames of all branches.
    pub(crate) fn all_frames(&self) -> &[FrameId] {
        &self.frames
    }

    /// Takes what branches say at each of them.
    pub(crate) fn note(&mut self, passed: Vec<BranchStepTotals>) {
        self.passed = passed;
    }

    /// The branches that chains end with often enough, heaviest first: what lists of chains show. Empty for trees.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    fn find_ends(&mut self, min_period: u64) {
        let own = |index: u32| self.branches[index as usize].own.period;
        let mut ends = self.inside_out();
        ends.retain(|&index| own(index) > 0 && own(index) >= min_period);
        ends.sort_by_key(|&index| Reverse(own(index)));
        self.ends = ends;
    }

    /// All branches, each after those it leads to.
    fn inside_out(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.branches.len());
        let mut open: Vec<u32> = self.roots.clone().collect();
        while let Some(index) = open.pop() {
            order.push(index);
            open.extend(self.branches[index as usize].children());
        }
        order.reverse();
        order
    }

    /// All frames from the beginning of the chain to the end of a branch.
    pub fn path(&self, index: u32) -> Vec<FrameId> {
        let up = std::iter::successors(self.branch(index), |branch| self.branch(branch.parent?));
        let runs: Vec<&[FrameId]> = up.map(|branch| self.frames(branch)).collect();
        runs.into_iter().rev().flatten().copied().collect()
    }
}

impl CallBranch {
    /// The places of its frames among those of all.
    pub(crate) fn places(&self) -> Range<usize> {
        self.frames.start as usize..self.frames.end as usize
    }

    /// The indices of the branches that follow.
    pub fn children(&self) -> Range<u32> {
        self.children.clone()
    }
}

/// A branch that waits to be followed.
struct Bud {
    index: u32,
    items: Vec<Item>,
}

/// Grows the graph of the chains that begin with `items`; `min_period` is the limit of all shapes but the fractal.
pub(crate) fn grow(
    ground: &Ground<'_>,
    nodes: &GraphNodes<'_>,
    options: &CallGraphOptions,
    items: Vec<Item>,
    min_period: u64,
) -> CallTree {
    let mut growth = Growth {
        ground,
        nodes,
        options,
        min_period,
        tree: CallTree::default(),
        buds: Vec::new(),
    };
    growth.tree.total = sum(&items);
    growth.tree.roots = growth.fork(items, None);
    while let Some(bud) = growth.buds.pop() {
        growth.follow(bud);
    }
    if options.shape.is_list() {
        growth.tree.find_ends(min_period);
    }
    growth.tree
}

struct Growth<'a> {
    ground: &'a Ground<'a>,
    nodes: &'a GraphNodes<'a>,
    options: &'a CallGraphOptions,
    min_period: u64,
    tree: CallTree,
    buds: Vec<Bud>,
}

impl Growth<'_> {
    /// Follows a branch to its end and begins those behind it.
    fn follow(&mut self, bud: Bud) {
        let Bud { index, mut items } = bud;
        let start = self.tree.frames.len() as u32;
        let mut next = Vec::new();
        let own = loop {
            self.tree
                .frames
                .extend(items.first().map(|item| self.nodes.frame(item.step)));
            let ended = self.ground.advance(&items, &mut next);
            std::mem::swap(&mut items, &mut next);
            if ended.samples > 0 || items.is_empty() || forks(&items) {
                break ended;
            }
        };
        let frames = start..self.tree.frames.len() as u32;
        let children = self.fork(items, Some(index));
        if let Some(branch) = self.tree.branches.get_mut(index as usize) {
            *branch = CallBranch {
                own,
                frames,
                children,
                ..branch.clone()
            };
        }
    }

    /// Begins a branch for every step among `items` that weighs enough.
    fn fork(&mut self, mut items: Vec<Item>, parent: Option<u32>) -> Range<u32> {
        items.sort_by_key(|item| item.step);
        let limit = self.limit(sum(&items));
        let runs = items
            .chunk_by(|a, b| a.step == b.step)
            .map(|run| (run, sum(run)));
        let mut heavy: Vec<(&[Item], SampleTotals)> =
            runs.filter(|(_, weight)| weight.period >= limit).collect();
        self.sort_by_place(&mut heavy);
        if !self.options.shape.is_list() {
            heavy.sort_by_key(|(_, weight)| Reverse(weight.period));
        }
        let start = self.tree.branches.len() as u32;
        for (run, total) in heavy {
            self.buds.push(Bud {
                index: self.tree.branches.len() as u32,
                items: run.to_vec(),
            });
            let own = SampleTotals::default();
            self.tree.branches.push(CallBranch {
                total,
                own,
                frames: 0..0,
                children: 0..0,
                parent,
            });
        }
        start..self.tree.branches.len() as u32
    }

    /// Branches of equal weight stand by object and address, the highest first. Two symbols are compared by where
    /// they begin, or by their names if one of them was inlined, all else by the addresses that were recorded; that need not
    /// be an order, so branches go the way that perf's go through a tree, one after another as they were first seen.
    fn sort_by_place(&self, branches: &mut Vec<(&[Item], SampleTotals)>) {
        if branches.len() < 2 {
            return;
        }
        let place = |(run, _): &(&[Item], SampleTotals)| {
            run.first().map(|item| self.nodes.place(item.step))
        };
        let places: Vec<_> = branches.iter().map(place).collect();
        let count = branches.len() as u32;
        let arrivals: Vec<u32> = (0..count).collect();
        let less =
            |new: u32, met: u32| falling(&places[new as usize], &places[met as usize]).is_lt();
        let order = insertion_order(&arrivals, from_ref(&(0..count)), less);
        *branches = order
            .into_iter()
            .map(|index| branches[index as usize])
            .collect();
    }

    fn limit(&self, all: SampleTotals) -> u64 {
        match self.options.shape {
            Shape::Fractal => {
                (all.period as f64 * (self.options.min_percent / 100.0)).ceil() as u64
            }
            _ => self.min_period,
        }
    }
}

/// How two branches that fork off the same line follow each other.
fn falling(a: &Option<NodeAddress<'_>>, b: &Option<NodeAddress<'_>>) -> Ordering {
    let (Some(a), Some(b)) = (*a, *b) else {
        return Ordering::Equal;
    };
    let names = a.name.zip(b.name);
    if let Some((one, other)) = names.filter(|_| a.inlined || b.inlined) {
        return other.cmp(one);
    }
    let address = |place: NodeAddress<'_>| {
        if names.is_some() {
            place.start
        } else {
            place.address
        }
    };
    (b.dso, address(b)).cmp(&(a.dso, address(a)))
}

fn sum(items: &[Item]) -> SampleTotals {
    let mut sum = SampleTotals::default();
    items.iter().for_each(|item| sum += item.weight);
    sum
}

fn forks(items: &[Item]) -> bool {
    items.windows(2).any(|pair| pair[0].step != pair[1].step)
}
