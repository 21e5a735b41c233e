//! Which rows show a call graph, and where each graph begins.

use rustc_hash::FxHashMap;

use super::callgraph::frontier::{Ground, Item};
use super::callgraph::{CallGraphOptions, CallTree, Order, Shape, grow};
use super::count::{Counted, Placed, Scope, Shared, innermost, weight};
use super::forest::Place;
use super::location::LocationId;
use super::task::TaskId;
use super::weight::Weight;
use crate::profile::EventProfile;

/// The contexts and sample groups of the rows that want a graph, gathered in one pass over all.
pub(crate) struct Gathered<'a> {
    shared: &'a Shared<'a>,
    event: &'a EventProfile,
    counted: &'a Counted,
    scope: Scope,
    rows: FxHashMap<(TaskId, LocationId), Sources>,
}

/// Where a row's chains are.
#[derive(Default)]
struct Sources {
    contexts: Vec<Place>,
    own: Vec<Placed>,
}

impl<'a> Gathered<'a> {
    /// Gathers for these rows.
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        event: &'a EventProfile,
        counted: &'a Counted,
        scope: Scope,
        wanted: impl Iterator<Item = (TaskId, LocationId)>,
    ) -> Gathered<'a> {
        let rows = wanted.map(|row| (row, Sources::default())).collect();
        let mut gathered = Gathered { shared, event, counted, scope, rows };
        if !gathered.rows.is_empty() {
            gathered.gather_own();
            gathered.gather_contexts();
        }
        gathered
    }

    fn gather_own(&mut self) {
        for &placed in &self.counted.groups {
            let Some(location) = self.own_location(&placed) else { continue };
            if let Some(sources) = self.rows.get_mut(&(placed.task, location)) {
                sources.own.push(placed);
            }
        }
    }

    fn gather_contexts(&mut self) {
        if !self.scope.children {
            return;
        }
        let forest = &self.counted.forest;
        for task in (0..self.shared.tasks.len() as u32).map(TaskId) {
            for place in forest.tree(task.0 as usize).skip(1) {
                let location = self.shared.steps.location(forest.context(place).step);
                if let Some(sources) = self.rows.get_mut(&(task, location)) {
                    sources.contexts.push(place);
                }
            }
        }
    }

    fn own_location(&self, placed: &Placed) -> Option<LocationId> {
        self.shared.locations.own(self.event.groups.get(placed.group as usize)?.frame)
    }

    fn weight(&self, placed: &Placed) -> Weight {
        self.event.groups.get(placed.group as usize).map(weight).unwrap_or_default()
    }

    /// The graph of a row.
    pub(crate) fn tree(
        &self,
        task: TaskId,
        location: LocationId,
        options: &CallGraphOptions,
        min_period: u64,
    ) -> CallTree {
        let Some(sources) = self.rows.get(&(task, location)) else { return CallTree::default() };
        let mut ground = Ground::new(&self.counted.forest);
        let items = match self.scope.order {
            Order::Caller => self.callers_first(&mut ground, sources, location),
            Order::Callee => self.callees_first(&ground, sources, location),
        };
        grow(&ground, &self.shared.steps, options, items, min_period)
    }

    /// Samples that ran in the row bring their whole chain, all others what lies below the row's outermost context.
    fn callers_first(&self, ground: &mut Ground<'_>, sources: &Sources, location: LocationId) -> Vec<Item> {
        let mut items = Vec::new();
        for placed in &sources.own {
            items.extend(ground.lay(placed.place, self.weight(placed)));
            if let Some(outermost) = self.outermost(placed.place, location) {
                ground.withhold(placed.place, self.weight(placed), outermost);
            }
        }
        let outermost = sources.contexts.iter().filter(|&&place| self.enclosing(place).is_none());
        items.extend(outermost.filter_map(|&place| ground.inwards(place)));
        items
    }

    /// Samples that ran in the row bring their whole chain, all others what called the row's innermost context.
    fn callees_first(&self, ground: &Ground<'_>, sources: &Sources, location: LocationId) -> Vec<Item> {
        let mut weights: FxHashMap<Place, Weight> = FxHashMap::default();
        let forest = &self.counted.forest;
        for &place in &sources.contexts {
            *weights.entry(place).or_default() += forest.total(place);
            if let Some(outer) = self.enclosing(place) {
                *weights.entry(outer).or_default() -= forest.total(place);
            }
        }
        for placed in &sources.own {
            if let Some(place) = self.innermost_counted(placed, location) {
                *weights.entry(place).or_default() -= self.weight(placed);
            }
            *weights.entry(placed.place).or_default() += self.weight(placed);
        }
        weights.into_iter().filter_map(|(place, weight)| ground.outwards(place, weight)).collect()
    }

    /// The context that has counted a sample that ran in the row as one that was called from it.
    fn innermost_counted(&self, placed: &Placed, location: LocationId) -> Option<Place> {
        let counts = self.scope.children;
        counts.then(|| innermost(self.shared, &self.counted.forest, placed.place, location)).flatten()
    }

    fn outermost(&self, place: Place, location: LocationId) -> Option<Place> {
        if !self.scope.children {
            return None;
        }
        let innermost = innermost(self.shared, &self.counted.forest, place, location)?;
        std::iter::successors(Some(innermost), |&place| self.enclosing(place)).last()
    }

    fn enclosing(&self, place: Place) -> Option<Place> {
        self.counted.enclosing.get(place as usize).copied().flatten()
    }
}

/// The period that a branch needs to be drawn.
pub(crate) fn min_period(options: &CallGraphOptions, event: &EventProfile) -> u64 {
    (event.period_total as f64 * (options.min_percent / 100.0)) as u64
}

/// Whether a row of that weight can have anything to draw.
pub(crate) fn may_draw(options: &CallGraphOptions, row_period: u64, min_period: u64) -> bool {
    options.shape == Shape::Fractal || row_period >= min_period
}
