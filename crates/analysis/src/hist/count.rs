//! Counting: from the sample groups of one event to its rows.
//!
//! With children a sample adds once to each distinct row of its chain. That is not done sample by sample: in the
//! forest of contexts, a row's total is the weight below its outermost contexts.

use super::callgraph::Order;
use super::forest::{Forest, Grown, Memo, Place, Steps};
use super::location::{LocationId, Locations};
use super::rows::{GroupIndex, Rows};
use super::task::{TaskId, Tasks};
use super::weight::Weight;
use crate::profile::{EventProfile, Profile, SampleGroup};

/// Everything that is known of an event once it is counted.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) rows: Rows,
    /// The groups of the event, those of a task together, each task in order of time.
    pub(crate) groups: Vec<Placed>,
    pub(crate) forest: Grown,
    /// For each context the next one outwards with the same location.
    pub(crate) enclosing: Vec<Option<Place>>,
}

/// A sample group with its task and the context it ended in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) task: TaskId,
    pub(crate) group: GroupIndex,
    pub(crate) place: Place,
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
    pub(crate) locations: Locations,
    pub(crate) steps: Steps,
    pub(crate) tasks: Tasks,
}

/// Counts an event.
pub(crate) fn count(shared: &mut Shared<'_>, event: &EventProfile, scope: Scope) -> Counted {
    let mut groups = by_task(shared, event);
    let forest = plant(shared, event, &mut groups, scope);
    let mut rows = Rows::new(shared.locations.len());
    let mut enclosing = Vec::new();
    let reach = if scope.children {
        enclosing = enclosing_contexts(shared, &forest);
        Reach::new(&forest, &groups)
    } else {
        Reach::default()
    };
    for task in groups.chunk_by(|a, b| a.task == b.task) {
        let Some(first) = task.first() else { continue };
        rows.begin(first.task);
        if scope.children {
            let counting = Counting { shared, forest: &forest, enclosing: &enclosing, reach: &reach };
            counting.callers(&mut rows, first.task, scope.order);
        }
        for placed in task {
            own(shared, event, &forest, &mut rows, placed);
        }
    }
    Counted { rows, groups, forest, enclosing }
}

fn by_task(shared: &mut Shared<'_>, event: &EventProfile) -> Vec<Placed> {
    let mut scratch = Vec::new();
    let groups = (0..).zip(&event.groups);
    let mut placed: Vec<Placed> = groups
        .map(|(group, sample)| {
            let task = shared.tasks.intern(shared.profile, sample, &mut scratch);
            Placed { task, group, place: 0 }
        })
        .collect();
    placed.sort_by_key(|placed| placed.task);
    placed
}

/// Grows a tree for each task and notes where each group ends. Tree numbers are the numbers of tasks.
fn plant(shared: &Shared<'_>, event: &EventProfile, groups: &mut [Placed], scope: Scope) -> Grown {
    let mut forest = Forest::default();
    let mut memo = Memo::default();
    let mut planted = 0;
    for placed in groups.iter_mut() {
        while planted <= placed.task.0 {
            forest.plant();
            planted += 1;
        }
        let Some(sample) = event.groups.get(placed.group as usize).filter(|_| scope.chains) else { continue };
        placed.place = forest.insert(shared.profile, &shared.steps, &mut memo, sample.chain);
        forest.add(placed.place, weight(sample));
    }
    forest.grown()
}

/// The weight of a sample group.
pub(crate) fn weight(group: &SampleGroup) -> Weight {
    Weight { period: group.period, samples: group.samples }
}

fn own(shared: &Shared<'_>, event: &EventProfile, forest: &Grown, rows: &mut Rows, placed: &Placed) {
    let Some(sample) = event.groups.get(placed.group as usize) else { return };
    let Some(location) = shared.locations.own(sample.frame) else { return };
    let counted = innermost(shared, forest, placed.place, location).is_some();
    let row = rows.row(location, placed.group);
    row.own += weight(sample);
    row.depth = row.depth.max(forest.context(placed.place).depth);
    if !counted {
        row.all = row.all.wrapping_add(sample.period);
    }
}

/// The innermost context with a location, from a place outwards.
pub(crate) fn innermost(
    shared: &Shared<'_>,
    forest: &Grown,
    place: Place,
    location: LocationId,
) -> Option<Place> {
    let in_chain = (forest.context(place).depth > 0).then_some(place);
    let mut outwards = std::iter::successors(in_chain, |&place| forest.caller(place));
    outwards.find(|&place| shared.steps.location(forest.context(place).step) == location)
}

/// What can be reached from each context inwards.
#[derive(Debug, Default)]
struct Reach {
    /// The earliest group that ends there or below.
    first: Vec<GroupIndex>,
    /// The greatest depth.
    deepest: Vec<u32>,
}

impl Reach {
    fn new(forest: &Grown, groups: &[Placed]) -> Reach {
        let mut first = vec![GroupIndex::MAX; forest.len()];
        for placed in groups {
            let slot = &mut first[placed.place as usize];
            *slot = placed.group.min(*slot);
        }
        let mut deepest: Vec<u32> =
            (0..).take(forest.len()).map(|place| forest.context(place).depth).collect();
        for place in (0..forest.len()).rev() {
            let parent = forest.context(place as Place).parent as usize;
            first[parent] = first[parent].min(first[place]);
            deepest[parent] = deepest[parent].max(deepest[place]);
        }
        Reach { first, deepest }
    }
}

/// For each context the next one outwards with the same location: a walk that keeps, for each location, the context
/// it is in.
fn enclosing_contexts(shared: &Shared<'_>, forest: &Grown) -> Vec<Option<Place>> {
    let mut enclosing = vec![None; forest.len()];
    let mut open: Vec<Option<Place>> = vec![None; shared.locations.len()];
    let mut path: Vec<(Place, usize)> = Vec::new();
    for tree in 0..shared.tasks.len() {
        path.extend(forest.tree(tree).next().map(|root| (root, 0)));
        while let Some((place, entered)) = path.last_mut() {
            let Some(&child) = forest.called(*place).get(*entered) else {
                leave(shared, forest, &mut open, &enclosing, *place);
                path.pop();
                continue;
            };
            *entered += 1;
            let slot = &mut open[shared.steps.location(forest.context(child).step).0 as usize];
            enclosing[child as usize] = slot.replace(child);
            path.push((child, 0));
        }
    }
    enclosing
}

fn leave(
    shared: &Shared<'_>,
    forest: &Grown,
    open: &mut [Option<Place>],
    enclosing: &[Option<Place>],
    place: Place,
) {
    let context = forest.context(place);
    if context.depth > 0 {
        open[shared.steps.location(context.step).0 as usize] = enclosing[place as usize];
    }
}

/// What counting callers looks at.
struct Counting<'a> {
    shared: &'a Shared<'a>,
    forest: &'a Grown,
    enclosing: &'a [Option<Place>],
    reach: &'a Reach,
}

impl Counting<'_> {
    /// Adds each sample of a task to every row of its chain.
    fn callers(&self, rows: &mut Rows, task: TaskId, order: Order) {
        let tree = self.forest.tree(task.0 as usize);
        for place in tree.skip(1) {
            let context = self.forest.context(place);
            let outermost = self.enclosing[place as usize].is_none();
            if !outermost && order == Order::Caller {
                continue;
            }
            let row = rows.row(self.shared.steps.location(context.step), self.reach.first[place as usize]);
            if outermost {
                row.all = row.all.wrapping_add(self.forest.total(place).period);
            }
            row.depth = row.depth.max(match order {
                Order::Caller => self.reach.deepest[place as usize] - context.depth + 1,
                Order::Callee => context.depth,
            });
        }
    }
}
