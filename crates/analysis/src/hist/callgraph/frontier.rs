//! The frontier: contexts that one line of a call graph stands for.

use rustc_hash::FxHashMap;

use super::super::callgraph_nodes::GraphNodeId;
use super::super::cct::{Cct, Place, RunId};
use oxperf_profile::SampleTotals;

/// A place on a chain, and the way on from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cursor {
    /// At a context, going on to all that it called.
    Inwards(Place),
    /// At a context, going on to its caller.
    Outwards(Place),
    /// Within one of the frontier's own paths, going on to the next step.
    Along(u32),
}

/// A cursor with the weight of the samples that it stands for, and the step it is at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) step: GraphNodeId,
    pub(crate) cursor: Cursor,
    pub(crate) weight: SampleTotals,
}

/// What cursors move over.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    forest: &'a Cct,
    /// Chains laid out step by step, each ended by `None`.
    paths: Vec<Option<GraphNodeId>>,
    /// What is not to be counted at and below contexts.
    withheld: FxHashMap<Place, SampleTotals>,
}

impl<'a> Ground<'a> {
    /// Ground without paths.
    pub(crate) fn new(forest: &'a Cct) -> Ground<'a> {
        Ground {
            forest,
            paths: Vec::new(),
            withheld: FxHashMap::default(),
        }
    }

    /// Lays out the whole chain that ends with a run, outermost first, and gives its beginning.
    pub(crate) fn lay(&mut self, run: RunId, weight: SampleTotals) -> Option<Item> {
        let start = self.paths.len();
        let outwards = self.forest.outwards(self.forest.innermost(run));
        self.paths
            .extend(outwards.map(|place| Some(self.forest.step(place))));
        self.paths[start..].reverse();
        self.paths.push(None);
        let step = self.paths.get(start).copied().flatten()?;
        Some(Item {
            step,
            cursor: Cursor::Along(start as u32),
            weight,
        })
    }

    /// Takes `weight`, which ends at `place`, out of every context from there out to `outermost`.
    pub(crate) fn withhold(&mut self, place: Place, weight: SampleTotals, outermost: Place) {
        for at in self.forest.outwards(Some(place)) {
            *self.withheld.entry(at).or_default() += weight;
            if at == outermost {
                break;
            }
        }
    }

    /// Stands at a context, going inwards; `None` when nothing is left there.
    pub(crate) fn inwards(&self, place: Place) -> Option<Item> {
        let mut weight = self.forest.total(place);
        if let Some(&withheld) = self.withheld.get(&place) {
            weight -= withheld;
        }
        let step = self.forest.step(place);
        (weight.samples > 0).then_some(Item {
            step,
            cursor: Cursor::Inwards(place),
            weight,
        })
    }

    /// Stands at a context, going outwards; `None` when it weighs nothing.
    pub(crate) fn outwards(&self, place: Place, weight: SampleTotals) -> Option<Item> {
        let step = self.forest.step(place);
        (weight.samples > 0).then_some(Item {
            step,
            cursor: Cursor::Outwards(place),
            weight,
        })
    }

    /// Moves all items one step, sorted by step, and gives the weight of those that ended.
    pub(crate) fn advance(&self, items: &[Item], next: &mut Vec<Item>) -> SampleTotals {
        next.clear();
        let mut ended = SampleTotals::default();
        for item in items {
            let from = next.len();
            self.follow(item, next);
            ended += item.weight;
            next[from..].iter().for_each(|moved| ended -= moved.weight);
        }
        next.sort_unstable_by_key(|item| (item.step, item.cursor));
        join_equal(next);
        ended
    }

    fn follow(&self, item: &Item, next: &mut Vec<Item>) {
        match item.cursor {
            Cursor::Inwards(place) => {
                next.extend(
                    self.forest
                        .called(place)
                        .filter_map(|place| self.inwards(place)),
                );
            }
            Cursor::Outwards(place) => {
                let caller = self.forest.caller(place);
                next.extend(caller.and_then(|place| self.outwards(place, item.weight)));
            }
            Cursor::Along(at) => {
                let step = self.paths.get(at as usize + 1).copied().flatten();
                next.extend(step.map(|step| Item {
                    step,
                    cursor: Cursor::Along(at + 1),
                    ..*item
                }));
            }
        }
    }
}

/// Cursors that have met go on as one.
fn join_equal(items: &mut Vec<Item>) {
    items.dedup_by(|item, kept| {
        let met = item.cursor == kept.cursor;
        if met {
            kept.weight += item.weight;
        }
        met
    });
}
