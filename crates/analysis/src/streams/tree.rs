//! The chains of a row as a tree of the spots that they lead through.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::{Spot, Stream, StreamPlace};
use oxperf_profile::{BranchStep, BranchStepTotals, FrameId, Profile, SampleGroup};

/// A spot after those of the nodes that it hangs on.
struct Node {
    place: StreamPlace,
    children: Vec<u32>,
    /// What chains count that end here.
    hits: u64,
    /// True if any ends here.
    ends: bool,
    passed: BranchStepTotals,
}

/// Such a tree. Nodes stand after those that they hang on; the first is the root, which is no spot.
pub(super) struct Tree<'a> {
    profile: &'a Profile,
    nodes: Vec<Node>,
    known: FxHashMap<(u32, Spot<'a>), u32>,
}

impl<'a> Tree<'a> {
    /// One without chains.
    pub(super) fn new(profile: &'a Profile) -> Tree<'a> {
        let mut tree = Tree {
            profile,
            nodes: Vec::new(),
            known: FxHashMap::default(),
        };
        tree.push(FrameId(0), false);
        tree
    }

    /// Adds the chain of samples; those that are told in full bring names and what their branches say.
    pub(super) fn add(&mut self, group: &SampleGroup, in_full: bool) {
        let profile = self.profile;
        let chain = profile.chains.path_to_root(group.chain);
        let mut at = 0;
        for (frame, passage) in profile.with_branch_steps(chain, group.history, false) {
            at = self.step(at, frame, in_full);
            if let Some(passage) = passage.filter(|_| in_full) {
                self.pass(at, passage, group.samples);
            }
        }
        let end = &mut self.nodes[at as usize];
        end.hits = end.hits.saturating_add(group.period);
        end.ends = true;
    }

    /// From one node to the next.
    fn step(&mut self, from: u32, frame: FrameId, in_full: bool) -> u32 {
        let Some(located) = self.profile.frames.get(frame.index()) else {
            return from;
        };
        let key = (from, Spot::of(self.profile, located));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let new = self.push(frame, in_full && located.symbol.is_some());
        self.known.insert(key, new);
        self.nodes[from as usize].children.push(new);
        new
    }

    fn push(&mut self, frame: FrameId, named: bool) -> u32 {
        let place = StreamPlace { frame, named };
        let (children, passed) = (Vec::new(), BranchStepTotals::default());
        self.nodes.push(Node {
            place,
            children,
            hits: 0,
            ends: false,
            passed,
        });
        self.nodes.len() as u32 - 1
    }

    fn pass(&mut self, at: u32, passage: &BranchStep, samples: u64) {
        self.nodes[at as usize].passed.add(passage, samples);
    }

    /// The streams that chains end with often enough, the hottest first.
    pub(super) fn streams(mut self, min_hits: u64) -> Vec<Stream> {
        let mut ends = self.ends();
        ends.retain(|&(_, end)| (min_hits.max(1)..).contains(&self.nodes[end as usize].hits));
        ends.sort_by_key(|&(_, end)| Reverse(self.nodes[end as usize].hits));
        ends.iter()
            .map(|(run, end)| self.stream(run, *end))
            .collect()
    }

    /// The nodes that chains end at, after those that hang on them, each with the nodes since the last fork or end.
    fn ends(&mut self) -> Vec<(Vec<u32>, u32)> {
        for at in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[at].children);
            children.sort_by_key(|&child| Reverse(self.spot(child)));
            self.nodes[at].children = children;
        }
        let mut ends = Vec::new();
        let mut open: Vec<Vec<u32>> = self.nodes[0]
            .children
            .iter()
            .map(|&child| vec![child])
            .collect();
        while let Some(mut run) = open.pop() {
            let Some(&last) = run.last() else { continue };
            match &self.nodes[last as usize] {
                Node {
                    ends: false,
                    children,
                    ..
                } if children.len() == 1 => {
                    run.extend(children);
                    open.push(run);
                }
                Node {
                    ends: is_end,
                    children,
                    ..
                } => {
                    open.extend(children.iter().map(|&child| vec![child]));
                    if *is_end {
                        ends.push((run, last));
                    }
                }
            }
        }
        ends.reverse();
        ends
    }

    fn spot(&self, node: u32) -> Option<Spot<'a>> {
        let frame = self.nodes.get(node as usize)?.place.frame;
        Some(Spot::of(
            self.profile,
            self.profile.frames.get(frame.index())?,
        ))
    }

    fn stream(&self, run: &[u32], end: u32) -> Stream {
        let nodes = || run.iter().map(|&node| &self.nodes[node as usize]);
        let average =
            |passed: &BranchStepTotals| passed.cycles.checked_div(passed.times).unwrap_or(0);
        Stream {
            places: nodes().map(|node| node.place).collect(),
            cycles: nodes().map(|node| average(&node.passed)).sum(),
            hits: self.nodes[end as usize].hits,
        }
    }
}
