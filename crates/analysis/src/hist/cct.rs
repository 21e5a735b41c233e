//! The calling contexts of one task: what called what, with the weight of each context.
//!
//! Profiles keep chains by frame and for all tasks together. Here they are cut down to what call graphs tell apart
//! ([`super::callgraph_nodes`]) and split by task, because rows never mix tasks. A context is a place in one list of nodes: runs
//! without a fork lie together, callers first, and each is followed by all that is below it. So what a context leads to
//! is a stretch of the list, and one backward pass sums weights from the leaves to the root.

use super::callgraph_nodes::GraphNodeId;
use oxperf_profile::NodeId;
use oxperf_profile::PathTree;
use oxperf_profile::SampleTotals;

/// A context: the place of its step.
pub(crate) type Place = u32;

/// A run of contexts without a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RunId(pub(crate) u32);

impl RunId {
    /// The empty chain's.
    pub(crate) const ROOT: RunId = RunId(0);

    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A tree that grows: its chains and what ends with each.
#[derive(Debug, Default)]
pub(crate) struct CctBuilder {
    paths: PathTree<GraphNodeId>,
    own: Vec<SampleTotals>,
}

impl CctBuilder {
    /// Adds to what ends with a chain, given from its outermost step on.
    pub(crate) fn add(&mut self, chain: &[GraphNodeId], weight: SampleTotals) -> NodeId {
        let node = self.paths.insert(chain);
        if self.own.len() <= node.index() {
            self.own
                .resize(self.paths.node_count(), SampleTotals::default());
        }
        self.own[node.index()] += weight;
        node
    }

    /// Ends the growing; tells with it which run each node became.
    pub(crate) fn build(mut self) -> (Cct, Vec<RunId>) {
        self.paths.seal();
        let count = self.paths.node_count();
        self.own.resize(count, SampleTotals::default());
        let children = Children::new(&self.paths);
        let mut cct = Cct {
            run_of: Vec::new(),
            nodes: Vec::new(),
            runs: Vec::with_capacity(count),
        };
        cct.nodes.reserve_exact(self.paths.item_count());
        cct.run_of.reserve_exact(self.paths.item_count());
        let mut runs = vec![RunId::ROOT; count];
        let mut open = vec![PathTree::<GraphNodeId>::ROOT];
        while let Some(node) = open.pop() {
            runs[node.index()] = RunId(cct.runs.len() as u32);
            let parent = self
                .paths
                .parent(node)
                .map_or(RunId::ROOT, |parent| runs[parent.index()]);
            cct.add(parent, self.paths.run(node), self.own[node.index()]);
            open.extend(children.of(node).iter().rev());
        }
        cct.sum();
        (cct, runs)
    }
}

/// A tree that grows no more.
#[derive(Debug, Default)]
pub(crate) struct Cct {
    runs: Vec<Run>,
    nodes: Vec<GraphNodeId>,
    run_of: Vec<RunId>,
}

/// A run: the last step of its caller, its own nodes, what is below.
#[derive(Clone, Copy, Debug)]
struct Run {
    parent: RunId,
    start: Place,
    end: Place,
    /// The run behind all that are below this one.
    behind: RunId,
    /// What ends at the run's last step or below.
    total: SampleTotals,
}

impl Cct {
    fn add(&mut self, parent: RunId, nodes: &[GraphNodeId], own: SampleTotals) {
        let (start, run) = (self.nodes.len() as Place, RunId(self.runs.len() as u32));
        self.nodes.extend_from_slice(nodes);
        self.run_of.resize(self.nodes.len(), run);
        let (end, behind) = (self.nodes.len() as Place, RunId(run.0 + 1));
        self.runs.push(Run {
            parent,
            start,
            end,
            behind,
            total: own,
        });
    }

    fn sum(&mut self) {
        for at in (1..self.runs.len()).rev() {
            let Run {
                parent,
                behind,
                total,
                ..
            } = self.runs[at];
            let above = &mut self.runs[parent.index()];
            above.total += total;
            above.behind = above.behind.max(behind);
        }
    }

    /// All places, callers before callees.
    pub(crate) fn all_places(&self) -> std::ops::Range<Place> {
        0..self.nodes.len() as Place
    }

    /// What ends at a run's last step or below.
    #[inline]
    pub(crate) fn weight(&self, run: RunId) -> SampleTotals {
        self.runs[run.index()].total
    }

    /// The innermost context of the chain that ends with a run; `None` for the empty chain.
    #[inline]
    pub(crate) fn innermost(&self, run: RunId) -> Option<Place> {
        let run = self.runs.get(run.index())?;
        (run.start < run.end).then(|| run.end - 1)
    }

    /// What stands at a place.
    #[inline]
    pub(crate) fn step(&self, place: Place) -> GraphNodeId {
        self.nodes[place as usize]
    }

    /// The caller; `None` at the outermost step.
    #[inline]
    pub(crate) fn caller(&self, place: Place) -> Option<Place> {
        let run = &self.runs[self.run_of[place as usize].index()];
        if place > run.start {
            Some(place - 1)
        } else {
            self.innermost(run.parent)
        }
    }

    /// A place and its callers.
    #[inline]
    pub(crate) fn outwards(&self, from: Option<Place>) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(from, |&place| self.caller(place))
    }

    /// What ends at a place or below.
    #[inline]
    pub(crate) fn total(&self, place: Place) -> SampleTotals {
        self.weight(self.run_of[place as usize])
    }

    /// The contexts called from a place.
    pub(crate) fn called(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        let id = self.run_of[place as usize];
        let run = &self.runs[id.index()];
        let within = (place + 1 < run.end).then_some(place + 1);
        let first = if within.is_some() {
            run.behind
        } else {
            RunId(id.0 + 1)
        };
        let below =
            std::iter::successors(Some(first), |&at| Some(self.runs.get(at.index())?.behind));
        let below = below.take_while(move |&at| at < run.behind);
        within
            .into_iter()
            .chain(below.map(|at| self.runs[at.index()].start))
    }
}

/// The nodes that go on from each node, one list cut into pieces.
struct Children {
    starts: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Children {
    fn new(paths: &PathTree<GraphNodeId>) -> Children {
        let below = || (1..paths.node_count() as u32).map(NodeId);
        let parent = |node| paths.parent(node).map_or(0, NodeId::index);
        let mut starts = vec![0u32; paths.node_count() + 1];
        below().for_each(|node| starts[parent(node) + 1] += 1);
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut nodes = vec![NodeId(0); paths.node_count() - 1];
        for node in below() {
            let slot = &mut next[parent(node)];
            nodes[*slot as usize] = node;
            *slot += 1;
        }
        Children { starts, nodes }
    }

    fn of(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[self.starts[node.index()] as usize..self.starts[node.index() + 1] as usize]
    }
}
