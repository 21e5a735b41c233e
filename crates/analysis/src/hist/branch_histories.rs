//! The branches at the lines of call graphs, and of rows as a whole: chains that hold branches are followed through
//! the graphs once more, because lines of one place are one line, whatever the branches through them were.

use rustc_hash::{FxHashMap, FxHashSet};

use super::callgraph::CallTree;
use super::count::{Counted, Scope, Shared};
use super::location::LocationId;
use super::task::TaskId;
use oxperf_profile::ChainOrder;
use oxperf_profile::{BranchStep, BranchStepTotals, EventProfile, FrameId};

/// The samples of each row, with the place in their chains at which the row's part begins.
pub(crate) struct BranchHistories<'a> {
    shared: &'a Shared<'a>,
    event: &'a EventProfile,
    order: ChainOrder,
    rows: FxHashMap<(TaskId, LocationId), Vec<(u32, u32)>>,
}

/// A frame of a chain, with the passage that it is.
type Link<'a> = (FrameId, Option<&'a BranchStep>);

impl<'a> BranchHistories<'a> {
    /// Of all rows of an event; of none where no chain holds branches.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        event: &'a EventProfile,
        counted: &Counted,
        scope: Scope,
    ) -> BranchHistories<'a> {
        let mut branch_histories = BranchHistories {
            shared,
            event,
            order: scope.order,
            rows: FxHashMap::default(),
        };
        if shared.profile.branch_steps.is_empty() {
            return branch_histories;
        }
        for placed in &counted.groups {
            let Some(group) = event.groups.get(placed.group as usize) else {
                continue;
            };
            let own = shared.locations.own(group.frame);
            let mut counted_in: FxHashSet<LocationId> = own.into_iter().collect();
            if let Some(own) = own {
                branch_histories
                    .rows
                    .entry((placed.task, own))
                    .or_default()
                    .push((placed.group, 0));
            }
            if !scope.children {
                continue;
            }
            for (nth, frame) in (0..).zip(branch_histories.chain(placed.group)) {
                let Some(step) = shared.nodes.of(frame) else {
                    continue;
                };
                let location = shared.nodes.location(step);
                if counted_in.insert(location) {
                    branch_histories
                        .rows
                        .entry((placed.task, location))
                        .or_default()
                        .push((placed.group, nth));
                }
            }
        }
        branch_histories
    }

    /// A chain in the order in which chains are read.
    fn chain(&self, group: u32) -> Vec<FrameId> {
        let group = self.event.groups.get(group as usize);
        let chains = &self.shared.profile.chains;
        let mut chain: Vec<FrameId> = group
            .into_iter()
            .flat_map(|group| chains.path_to_root(group.chain))
            .collect();
        if self.order == ChainOrder::Caller {
            chain.reverse();
        }
        chain
    }

    /// Calls `visit` with the part of each chain that belongs to a row, and the number of its samples.
    fn visit(&self, row: (TaskId, LocationId), mut visit: impl FnMut(&[Link<'a>], u64)) {
        let profile = self.shared.profile;
        for &(group, start) in self.rows.get(&row).into_iter().flatten() {
            let sampled = self.event.groups.get(group as usize);
            let history = sampled.and_then(|group| group.history);
            let callers_first = self.order == ChainOrder::Caller;
            let chain: Vec<Link<'a>> =
                profile.with_branch_steps(self.chain(group), history, callers_first);
            let samples = sampled.map_or(0, |group| group.samples);
            visit(chain.get(start as usize..).unwrap_or_default(), samples);
        }
    }

    /// What the branches of all chains of a row say.
    pub(crate) fn of_row(&self, row: (TaskId, LocationId)) -> BranchStepTotals {
        let mut passed = BranchStepTotals::default();
        self.visit(row, |chain, samples| {
            chain
                .iter()
                .filter_map(|link| link.1)
                .for_each(|passage| passed.add(passage, samples));
        });
        passed
    }

    /// Notes at each line of a row's graph what its branches say.
    pub(crate) fn note(&self, row: (TaskId, LocationId), tree: &mut CallTree) {
        if self.shared.profile.branch_steps.is_empty() {
            return;
        }
        let nodes = &self.shared.nodes;
        let mut passed = vec![BranchStepTotals::default(); tree.all_frames().len()];
        self.visit(row, |chain, samples| {
            let mut branches = tree.roots();
            let mut rest = chain.iter().copied().peekable();
            while let Some(&(first, _)) = rest.peek() {
                let begins = |index: &u32| {
                    let frame = tree
                        .branch(*index)
                        .and_then(|branch| tree.frames(branch).first());
                    frame.is_some_and(|&frame| nodes.of(frame) == nodes.of(first))
                };
                let Some(branch) = branches
                    .clone()
                    .find(begins)
                    .and_then(|index| tree.branch(index))
                else {
                    break;
                };
                for place in branch.places() {
                    let line = tree.all_frames()[place];
                    let same = |&(frame, _): &Link<'a>| nodes.of(frame) == nodes.of(line);
                    let Some((_, passage)) = rest.next_if(same) else {
                        return;
                    };
                    passage
                        .iter()
                        .for_each(|passage| passed[place].add(passage, samples));
                }
                branches = branch.children();
            }
        });
        tree.note(passed);
    }
}
