//! Which rows show a call graph, and where each graph begins.

use rustc_hash::FxHashMap;

use super::callgraph::frontier::{Ground, Item};
use super::callgraph::{CallGraphOptions, CallTree, Shape, grow};
use super::cct::{Cct, Place};
use super::contexts::{Contexts, Ended, innermost};
use super::count::{Scope, Shared, weight};
use super::counted_rows::RowKey;
use super::location::LocationId;
use super::task::TaskId;
use oxperf_profile::ChainOrder;
use oxperf_profile::EventProfile;
use oxperf_profile::SampleTotals;

/// The contexts and sample groups of the rows that want a graph, gathered in one pass over all.
pub(crate) struct Gathered<'a> {
    shared: &'a Shared<'a>,
    event: &'a EventProfile,
    contexts: &'a Contexts,
    scope: Scope,
    rows: FxHashMap<RowKey, Sources>,
}

/// Where a row's chains are.
#[derive(Default)]
struct Sources {
    contexts: Vec<Place>,
    own: Vec<Ended>,
}

impl<'a> Gathered<'a> {
    /// Gathers for these rows.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        event: &'a EventProfile,
        contexts: &'a Contexts,
        scope: Scope,
        wanted: impl Iterator<Item = RowKey>,
    ) -> Gathered<'a> {
        let rows = wanted.map(|row| (row, Sources::default())).collect();
        let mut gathered = Gathered {
            shared,
            event,
            contexts,
            scope,
            rows,
        };
        if !gathered.rows.is_empty() {
            gathered.gather_own();
            gathered.gather_contexts();
        }
        gathered
    }

    fn gather_own(&mut self) {
        for &end in &self.contexts.ends {
            let Some(location) = self.own_location(&end) else {
                continue;
            };
            if let Some(sources) = self.rows.get_mut(&(end.task, location)) {
                sources.own.push(end);
            }
        }
    }

    fn gather_contexts(&mut self) {
        if !self.scope.children {
            return;
        }
        let mut wanted = vec![false; self.shared.locations.len()];
        self.rows
            .keys()
            .for_each(|(_, location)| wanted[location.index()] = true);
        for (task, tree) in (0..).map(TaskId).zip(&self.contexts.trees) {
            for place in tree.all_places() {
                let location = self.shared.nodes.location(tree.step(place));
                if wanted[location.index()]
                    && let Some(sources) = self.rows.get_mut(&(task, location))
                {
                    sources.contexts.push(place);
                }
            }
        }
    }

    fn own_location(&self, placed: &Ended) -> Option<LocationId> {
        self.shared
            .locations
            .own(self.event.groups.get(placed.group as usize)?.frame)
    }

    fn weight(&self, placed: &Ended) -> SampleTotals {
        self.event
            .groups
            .get(placed.group as usize)
            .map(weight)
            .unwrap_or_default()
    }

    /// The graph of a row.
    pub(crate) fn tree(
        &self,
        row: RowKey,
        options: &CallGraphOptions,
        min_period: u64,
    ) -> CallTree {
        let Some(sources) = self.rows.get(&row) else {
            return CallTree::default();
        };
        let (task, location) = row;
        let Some(tree) = self.contexts.trees.get(task.0 as usize) else {
            return CallTree::default();
        };
        let mut ground = Ground::new(tree);
        let items = match self.scope.order {
            ChainOrder::Caller => self.callers_first(&mut ground, sources, tree, location),
            ChainOrder::Callee => self.callees_first(&ground, sources, tree, location),
        };
        grow(&ground, &self.shared.nodes, options, items, min_period)
    }

    /// Samples that ran in the row bring their whole chain, all others what lies below the row's outermost context.
    fn callers_first(
        &self,
        ground: &mut Ground<'_>,
        sources: &Sources,
        tree: &Cct,
        location: LocationId,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        for placed in &sources.own {
            items.extend(ground.lay(placed.run, self.weight(placed)));
            if let Some(innermost) = self.innermost_counted(placed, tree, location) {
                let outermost = self
                    .of_location(tree, innermost, location)
                    .last()
                    .unwrap_or(innermost);
                let end = tree.innermost(placed.run).unwrap_or(innermost);
                ground.withhold(end, self.weight(placed), outermost);
            }
        }
        let outermost = |place: &Place| self.of_location(tree, *place, location).nth(1).is_none();
        items.extend(
            sources
                .contexts
                .iter()
                .copied()
                .filter(outermost)
                .filter_map(|at| ground.inwards(at)),
        );
        items
    }

    /// Samples that ran in the row bring their whole chain, all others what called the row's innermost context.
    fn callees_first(
        &self,
        ground: &Ground<'_>,
        sources: &Sources,
        tree: &Cct,
        location: LocationId,
    ) -> Vec<Item> {
        let mut weights: FxHashMap<Place, SampleTotals> = FxHashMap::default();
        for &place in &sources.contexts {
            *weights.entry(place).or_default() += tree.total(place);
            if let Some(outer) = self.of_location(tree, place, location).nth(1) {
                *weights.entry(outer).or_default() -= tree.total(place);
            }
        }
        for placed in &sources.own {
            if let Some(place) = self.innermost_counted(placed, tree, location) {
                *weights.entry(place).or_default() -= self.weight(placed);
            }
            if let Some(end) = tree.innermost(placed.run) {
                *weights.entry(end).or_default() += self.weight(placed);
            }
        }
        weights
            .into_iter()
            .filter_map(|(place, weight)| ground.outwards(place, weight))
            .collect()
    }

    /// The context that has counted a sample that ran in the row as one that was called from it.
    fn innermost_counted(&self, placed: &Ended, tree: &Cct, location: LocationId) -> Option<Place> {
        let counts = self.scope.children;
        counts
            .then(|| innermost(self.shared, tree, placed.run, location))
            .flatten()
    }

    /// From a place outwards, the contexts with a location.
    fn of_location<'t>(
        &self,
        tree: &'t Cct,
        place: Place,
        location: LocationId,
    ) -> impl Iterator<Item = Place> + use<'_, 't> {
        let nodes = &self.shared.nodes;
        tree.outwards(Some(place))
            .filter(move |&at| nodes.location(tree.step(at)) == location)
    }
}

/// The period that a branch needs to be drawn.
pub(crate) fn min_period(options: &CallGraphOptions, event: &EventProfile) -> u64 {
    (event.period_total as f64 * (options.min_percent / 100.0)) as u64
}

/// True if a row of that weight can have anything to draw.
pub(crate) fn may_draw(options: &CallGraphOptions, row_period: u64, min_period: u64) -> bool {
    options.shape == Shape::Fractal || row_period >= min_period
}
