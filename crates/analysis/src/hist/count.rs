//! Counting: from the sample groups of one event to its rows.
//!
//! With children a sample adds once to each distinct row of its chain. Tasks share no row, so they are counted side by
//! side. Only call graphs need to know what called what, in a tree of contexts.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::callgraph_nodes::{Caller, GraphNodes};
use super::location::Locations;
use super::rows::{GroupIndex, RowData, Rows};
use super::task::{TaskId, Tasks};
use oxperf_profile::ChainOrder;
use oxperf_profile::SampleTotals;
use oxperf_profile::{EventProfile, FrameId, NodeId, Profile, SampleGroup};

/// Everything that is known of an event once it is counted.
#[derive(Debug)]
pub(crate) struct Counted {
    /// Those of each task.
    pub(crate) rows: Vec<Vec<RowData>>,
    /// The groups of the event, those of a task together, each task in order of time.
    pub(crate) groups: Vec<Placed>,
}

/// A sample group with its task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) task: TaskId,
    pub(crate) group: GroupIndex,
}

/// What rows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Callers too.
    pub(crate) children: bool,
    /// Chains are needed, for callers or for call graphs.
    pub(crate) chains: bool,
    pub(crate) order: ChainOrder,
}

/// Tables shared by all events of a report.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) locations: Locations<'a>,
    pub(crate) nodes: GraphNodes<'a>,
    pub(crate) tasks: Tasks,
}

/// Counts an event, whose groups are given by task.
pub(crate) fn count(
    shared: &Shared<'_>,
    event: &EventProfile,
    groups: Vec<Placed>,
    scope: Scope,
) -> Counted {
    let counting = Counting {
        shared,
        event,
        scope,
    };
    let tasks: Vec<&[Placed]> = groups.chunk_by(|a, b| a.task == b.task).collect();
    // Room for all locations is large: it serves one task after another, and there is one for each core.
    let idle: Mutex<Vec<Rows>> = Mutex::default();
    let lock = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let count = |groups: &[Placed]| {
        let taken = lock().pop();
        let mut rows = taken.unwrap_or_else(|| Rows::new(shared.locations.len()));
        let counted = counting.task(&mut rows, groups);
        lock().push(rows);
        counted
    };
    let rows = tasks.into_par_iter().map(count).collect();
    Counted { rows, groups }
}

/// The groups, those of a task together. There are few tasks for many groups: each is put where it belongs at once.
pub(crate) fn by_task(known: &mut Tasks, profile: &Profile, event: &EventProfile) -> Vec<Placed> {
    let mut scratch = Vec::new();
    let tasks = event
        .groups
        .iter()
        .map(|group| known.intern(profile, group, &mut scratch));
    let tasks: Vec<TaskId> = tasks.collect();
    let mut places = vec![0; known.len() + 1];
    tasks
        .iter()
        .for_each(|task| places[task.0 as usize + 1] += 1);
    for task in 1..places.len() {
        places[task] += places[task - 1];
    }
    let mut placed = vec![
        Placed {
            task: TaskId(0),
            group: 0
        };
        tasks.len()
    ];
    for (group, &task) in (0..).zip(&tasks) {
        let place = &mut places[task.0 as usize];
        placed[*place] = Placed { task, group };
        *place += 1;
    }
    placed
}

/// A chain as what stands for its frames.
pub(crate) fn outermost_first<T>(
    shared: &Shared<'_>,
    chain: NodeId,
    of: impl Fn(FrameId) -> Option<T>,
    list: &mut Vec<T>,
) {
    list.clear();
    list.extend(shared.profile.chains.path_to_root(chain).filter_map(of));
    list.reverse();
}

/// The weight of a sample group.
pub(crate) fn weight(group: &SampleGroup) -> SampleTotals {
    SampleTotals {
        period: group.period,
        samples: group.samples,
        latency: group.latency,
    }
}

/// What counting looks at.
struct Counting<'a> {
    shared: &'a Shared<'a>,
    event: &'a EventProfile,
    scope: Scope,
}

impl Counting<'_> {
    /// The rows of one task.
    fn task(&self, rows: &mut Rows, groups: &[Placed]) -> Vec<RowData> {
        let mut chain = Vec::new();
        if let Some(first) = groups.first() {
            rows.begin(first.task);
        }
        groups
            .iter()
            .for_each(|placed| self.add(rows, placed.group, &mut chain));
        rows.take()
    }

    /// Adds a sample group to every row of its chain and to the one where it ran.
    fn add(&self, rows: &mut Rows, index: GroupIndex, chain: &mut Vec<Caller>) {
        let Some(group) = self.event.groups.get(index as usize) else {
            return;
        };
        if self.scope.chains {
            outermost_first(
                self.shared,
                group.chain,
                |frame| self.shared.nodes.caller(frame),
                chain,
            );
        }
        if self.scope.children {
            self.callers(rows, index, weight(group), chain);
        }
        let own = self
            .shared
            .locations
            .own(group.counted_at(&self.shared.profile.branches));
        let Some(location) = own else { return };
        let counted = !rows.enter(location, index);
        let row = rows.row(location, index);
        row.own += weight(group);
        row.depth = row.depth.max(chain.len() as u32);
        if !counted {
            row.all += weight(group);
        }
    }

    /// Adds a group to the rows of its chain.
    fn callers(&self, rows: &mut Rows, group: GroupIndex, weight: SampleTotals, chain: &[Caller]) {
        let mut passed_object = false;
        for (depth, caller) in (1..).zip(chain) {
            let location = caller.row();
            let outermost = rows.enter(location, group);
            if outermost || self.scope.order == ChainOrder::Callee {
                let row = rows.caller(location, group, passed_object);
                if outermost {
                    row.all += weight;
                }
                row.depth = row.depth.max(match self.scope.order {
                    ChainOrder::Caller => chain.len() as u32 + 1 - depth,
                    ChainOrder::Callee => depth,
                });
            }
            passed_object |= caller.has_object();
        }
    }
}
