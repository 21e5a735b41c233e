//! Counting: from the sample groups of one event to its rows.
//!
//! With children a sample adds once to each distinct row of its chain. That is not done sample by sample: in the
//! tree of contexts, a row's total is the weight below its outermost contexts. Tasks share no row, so they are counted
//! side by side.

use rayon::prelude::*;

use super::callgraph::Order;
use super::forest::{Grown, Place, RunId, Seedling};
use super::location::{LocationId, Locations};
use super::rows::{GroupIndex, RowData, Rows};
use super::steps::{StepId, Steps};
use super::task::{TaskId, Tasks};
use super::weight::Weight;
use crate::profile::{EventProfile, FrameId, NodeId, Profile, SampleGroup};

/// Everything that is known of an event once it is counted.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Those of each task.
    pub(crate) rows: Vec<Vec<RowData>>,
    /// The groups of the event, those of a task together, each task in order of time.
    pub(crate) groups: Vec<Placed>,
    /// The contexts of each task; empty for tasks that the event has not seen.
    pub(crate) trees: Vec<Grown>,
}

/// A sample group with its task and the run that its chain ended with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) task: TaskId,
    pub(crate) group: GroupIndex,
    pub(crate) run: RunId,
}

/// What rows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Callers too.
    pub(crate) children: bool,
    /// Chains are needed, for callers or for call graphs.
    pub(crate) chains: bool,
    pub(crate) order: Order,
}

/// Tables shared by all events of a report.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) locations: Locations<'a>,
    pub(crate) steps: Steps<'a>,
    pub(crate) tasks: Tasks,
}

/// Counts an event.
pub(crate) fn count(shared: &mut Shared<'_>, event: &EventProfile, scope: Scope) -> Counted {
    let mut groups = by_task(shared, event);
    let counting = Counting { shared, event, scope };
    let tasks: Vec<&mut [Placed]> = groups.chunk_by_mut(|a, b| a.task == b.task).collect();
    let rows = || Rows::new(shared.locations.len());
    let tasks = tasks.into_par_iter().map_init(rows, |rows, groups| counting.task(rows, groups));
    let counted: Vec<(TaskId, Vec<RowData>, Grown)> = tasks.flatten_iter().collect();
    let mut trees: Vec<Grown> = (0..shared.tasks.len()).map(|_| Grown::default()).collect();
    let mut rows = Vec::new();
    for (task, of_task, tree) in counted {
        rows.push(of_task);
        trees[task.0 as usize] = tree;
    }
    Counted { rows, groups, trees }
}

fn by_task(shared: &mut Shared<'_>, event: &EventProfile) -> Vec<Placed> {
    let mut scratch = Vec::new();
    let groups = (0..).zip(&event.groups);
    let mut placed: Vec<Placed> = groups
        .map(|(group, sample)| {
            let task = shared.tasks.intern(shared.profile, sample, &mut scratch);
            Placed { task, group, run: RunId::ROOT }
        })
        .collect();
    placed.sort_by_key(|placed| placed.task);
    placed
}

/// The weight of a sample group.
pub(crate) fn weight(group: &SampleGroup) -> Weight {
    Weight { period: group.period, samples: group.samples, latency: group.latency }
}

/// The innermost context with a location in the chain that ends with a run.
pub(crate) fn innermost(
    shared: &Shared<'_>,
    tree: &Grown,
    run: RunId,
    location: LocationId,
) -> Option<Place> {
    tree.outwards(tree.innermost(run)).find(|&place| shared.steps.location(tree.step(place)) == location)
}

/// What counting looks at.
struct Counting<'a> {
    shared: &'a Shared<'a>,
    event: &'a EventProfile,
    scope: Scope,
}

impl Counting<'_> {
    /// The rows and contexts of one task.
    fn task(&self, rows: &mut Rows, groups: &mut [Placed]) -> Option<(TaskId, Vec<RowData>, Grown)> {
        let task = groups.first()?.task;
        let tree = self.plant(groups);
        rows.begin(task);
        if self.scope.children {
            self.callers(rows, &tree, &Reach::new(&tree, groups));
        }
        groups.iter().for_each(|placed| self.own(rows, &tree, placed));
        Some((task, rows.take(), tree))
    }

    /// Grows the tree of a task and notes where each group ends.
    fn plant(&self, groups: &mut [Placed]) -> Grown {
        let (mut seedling, mut chain) = (Seedling::default(), Vec::new());
        let mut nodes = Vec::new();
        if self.scope.chains {
            nodes.extend(groups.iter().map(|placed| {
                let Some(group) = self.event.groups.get(placed.group as usize) else { return NodeId(0) };
                self.steps_of(group.chain, &mut chain);
                seedling.add(&chain, weight(group))
            }));
        }
        let (tree, runs) = seedling.grown();
        groups.iter_mut().zip(nodes).for_each(|(placed, node)| placed.run = runs[node.index()]);
        tree
    }

    /// A chain as steps, the outermost first.
    fn steps_of(&self, chain: NodeId, steps: &mut Vec<StepId>) {
        steps.clear();
        let frames = self.shared.profile.chains.path_to_root(chain);
        steps.extend(frames.filter_map(|frame: FrameId| self.shared.steps.of(frame)));
        steps.reverse();
    }

    fn own(&self, rows: &mut Rows, tree: &Grown, placed: &Placed) {
        let Some(sample) = self.event.groups.get(placed.group as usize) else { return };
        let Some(location) = self.shared.locations.own(sample.counted_at(&self.shared.profile.branches))
        else {
            return;
        };
        let counted = self.scope.children && innermost(self.shared, tree, placed.run, location).is_some();
        let row = rows.row(location, placed.group);
        row.own += weight(sample);
        row.depth = row.depth.max(tree.depth(placed.run));
        if !counted {
            row.all += weight(sample);
        }
    }

    /// Adds each sample of a task to every row of its chain.
    fn callers(&self, rows: &mut Rows, tree: &Grown, reach: &Reach) {
        let mut passed = vec![false; tree.run_count()];
        for run in tree.runs() {
            let at = run.0 as usize;
            let (first, deepest, total) = (reach.first[at], reach.deepest[at], tree.weight(run));
            let mut passed_object = passed[tree.parent(run).0 as usize];
            for place in tree.places(run) {
                let step = tree.step(place);
                let location = self.shared.steps.location(step);
                let outermost = rows.enter(location, run, tree.behind(run));
                if outermost || self.scope.order == Order::Callee {
                    let row = rows.caller(location, first, passed_object);
                    if outermost {
                        row.all += total;
                    }
                    row.depth = row.depth.max(match self.scope.order {
                        Order::Caller => deepest - tree.depth_at(place) + 1,
                        Order::Callee => tree.depth_at(place),
                    });
                }
                passed_object |= self.shared.steps.has_object(step);
            }
            passed[at] = passed_object;
        }
    }
}

/// What can be reached from the end of each run inwards.
#[derive(Debug)]
struct Reach {
    /// The earliest group that ends there or below.
    first: Vec<GroupIndex>,
    /// The greatest depth.
    deepest: Vec<u32>,
}

impl Reach {
    fn new(tree: &Grown, groups: &[Placed]) -> Reach {
        let mut first = vec![GroupIndex::MAX; tree.run_count()];
        for placed in groups {
            let slot = &mut first[placed.run.0 as usize];
            *slot = placed.group.min(*slot);
        }
        let mut deepest: Vec<u32> = tree.runs().map(|run| tree.depth(run)).collect();
        for run in tree.runs().rev() {
            let (parent, at) = (tree.parent(run).0 as usize, run.0 as usize);
            first[parent] = first[parent].min(first[at]);
            deepest[parent] = deepest[parent].max(deepest[at]);
        }
        Reach { first, deepest }
    }
}
