//! What called what in the samples of an event: the contexts of each task, for call graphs alone.

use rayon::prelude::*;

use super::cct::{Cct, CctBuilder, Place, RunId};
use super::count::{Placed, Shared, outermost_first, weight};
use super::location::LocationId;
use super::rows::GroupIndex;
use super::task::TaskId;
use oxperf_profile::{EventProfile, NodeId};

/// All contexts.
#[derive(Debug)]
pub(crate) struct Contexts {
    /// Those of each task; empty for tasks that the event has not seen.
    pub(crate) trees: Vec<Cct>,
    /// The groups of the event, those of a task together.
    pub(crate) ends: Vec<Ended>,
}

/// A sample group with its task and the run that its chain ended with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) task: TaskId,
    pub(crate) group: GroupIndex,
    pub(crate) run: RunId,
}

impl Contexts {
    /// Grows a tree for each task; its groups stand together.
    pub(crate) fn new(shared: &Shared<'_>, event: &EventProfile, groups: &[Placed]) -> Contexts {
        let tasks: Vec<&[Placed]> = groups.chunk_by(|a, b| a.task == b.task).collect();
        let planted = tasks
            .into_par_iter()
            .map(|groups| plant(shared, event, groups));
        let planted: Vec<(Cct, Vec<Ended>)> = planted.collect();
        let mut trees: Vec<Cct> = (0..shared.tasks.len()).map(|_| Cct::default()).collect();
        let mut ends = Vec::with_capacity(groups.len());
        for (tree, of_task) in planted {
            if let Some(first) = of_task.first() {
                trees[first.task.0 as usize] = tree;
            }
            ends.extend(of_task);
        }
        Contexts { trees, ends }
    }
}

/// The tree of a task, and where each group ends.
fn plant(shared: &Shared<'_>, event: &EventProfile, groups: &[Placed]) -> (Cct, Vec<Ended>) {
    let (mut builder, mut chain) = (CctBuilder::default(), Vec::new());
    let nodes = groups.iter().map(|placed| {
        let Some(group) = event.groups.get(placed.group as usize) else {
            return NodeId(0);
        };
        outermost_first(
            shared,
            group.chain,
            |frame| shared.nodes.of(frame),
            &mut chain,
        );
        builder.add(&chain, weight(group))
    });
    let nodes: Vec<NodeId> = nodes.collect();
    let (tree, runs) = builder.build();
    let end = |(&Placed { task, group }, node): (_, NodeId)| Ended {
        task,
        group,
        run: runs[node.index()],
    };
    let ends = groups.iter().zip(nodes).map(end).collect();
    (tree, ends)
}

/// The innermost context with a location in the chain that ends with a run.
pub(crate) fn innermost(
    shared: &Shared<'_>,
    tree: &Cct,
    run: RunId,
    location: LocationId,
) -> Option<Place> {
    tree.outwards(tree.innermost(run))
        .find(|&place| shared.nodes.location(tree.step(place)) == location)
}
