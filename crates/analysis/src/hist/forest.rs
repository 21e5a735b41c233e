//! The forest of calling contexts: for each task one tree of what called what, with the weight of each context.
//!
//! Profiles keep chains by frame and for all tasks together. Here they are cut down to what call graphs tell apart
//! (the symbol, or the address where none is known) and split by task, because rows never mix tasks. A node's parent
//! always stands before it, so one backward pass sums weights from the leaves to the roots.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::location::{LocationId, Locations};
use super::weight::Weight;
use crate::profile::{DsoId, FrameId, NodeId, Profile};

/// A place in the forest.
pub(crate) type Place = u32;

/// A context: who called, and what a call graph shows for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// The caller's place; a tree's root is its own.
    pub(crate) parent: Place,
    /// The step that is shown; meaningless at a root.
    pub(crate) step: StepId,
    /// How many steps there are from the root.
    pub(crate) depth: u32,
}

/// A place in the table of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StepId(pub(crate) u32);

/// What a call graph shows on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct StepKey {
    dso: Option<DsoId>,
    /// The symbol's first address, or the address itself.
    start: u64,
    named: bool,
}

/// A step seen as an address, for the order of lines of equal weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepPlace {
    /// The object.
    pub(crate) dso: Option<DsoId>,
    /// The symbol's first address, or the address itself.
    pub(crate) start: u64,
    /// An address as it was recorded.
    pub(crate) address: u64,
    /// Whether there is a symbol.
    pub(crate) named: bool,
}

/// The steps of all frames.
#[derive(Debug)]
pub(crate) struct Steps {
    places: Vec<StepPlace>,
    frames: Vec<FrameId>,
    locations: Vec<LocationId>,
    of_frame: Vec<StepId>,
    /// Whether several frames are the same step.
    shared: Vec<bool>,
}

impl Steps {
    /// No steps at all, for reports that look at no chain.
    pub(crate) fn none() -> Steps {
        Steps {
            places: Vec::new(),
            frames: Vec::new(),
            locations: Vec::new(),
            of_frame: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// The steps of all frames of the profile.
    pub(crate) fn new(profile: &Profile, locations: &Locations) -> Steps {
        let mut steps = Steps::none();
        let mut known = FxHashMap::default();
        for (id, frame) in (0..).map(FrameId).zip(&profile.frames) {
            let symbol = frame.symbol.and_then(|symbol| profile.symbols.get(symbol.index()));
            let start = symbol.map_or(frame.address, |symbol| symbol.start);
            let key = StepKey { dso: frame.dso, start, named: symbol.is_some() };
            let place = StepPlace { dso: frame.dso, start, address: frame.address, named: key.named };
            let next = StepId(steps.places.len() as u32);
            let step = *known.entry(key).or_insert(next);
            if step == next {
                steps.add(place, id, locations);
            } else {
                steps.shared[step.0 as usize] = true;
            }
            steps.of_frame.push(step);
        }
        steps
    }

    fn add(&mut self, place: StepPlace, frame: FrameId, locations: &Locations) {
        self.shared.push(false);
        self.places.push(place);
        self.frames.push(frame);
        self.locations.push(locations.called(frame).unwrap_or(LocationId(0)));
    }

    #[inline]
    fn is_shared(&self, step: StepId) -> bool {
        self.shared[step.0 as usize]
    }

    /// The step as an address.
    #[inline]
    pub(crate) fn place(&self, step: StepId) -> StepPlace {
        self.places[step.0 as usize]
    }

    /// A frame that shows the step.
    #[inline]
    pub(crate) fn frame(&self, step: StepId) -> FrameId {
        self.frames[step.0 as usize]
    }

    /// The row that the step counts for.
    #[inline]
    pub(crate) fn location(&self, step: StepId) -> LocationId {
        self.locations[step.0 as usize]
    }
}

/// All contexts of one event.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    contexts: Vec<Context>,
    /// The places of each tree, its root first.
    trees: Vec<Range<Place>>,
    own: Vec<Weight>,
    /// The contexts that another chain can reach through other nodes of the profile: those at or below a step that
    /// several frames share. All others are new whenever their node is.
    joined: FxHashMap<(Place, StepId), Place>,
    /// Whether a place is one of them.
    is_joined: Vec<bool>,
}

/// Remembers which context of the profile is which place of the tree that grows now.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    places: Vec<(u32, Place)>,
    pending: Vec<(NodeId, StepId)>,
}

impl Forest {
    /// Begins a new tree.
    pub(crate) fn plant(&mut self) {
        let root = self.contexts.len() as Place;
        self.push(Context { parent: root, step: StepId(0), depth: 0 }, false);
        self.trees.push(root..root + 1);
    }

    /// Puts a chain of the profile into the newest tree and gives its innermost context.
    pub(crate) fn insert(
        &mut self,
        profile: &Profile,
        steps: &Steps,
        memo: &mut Memo,
        chain: NodeId,
    ) -> Place {
        memo.places.resize(profile.chains.len() + 1, (0, 0));
        let tree = self.trees.len() as u32;
        let mut place = self.trees.last().map_or(0, |tree| tree.start);
        let mut node = chain;
        while let Some((parent, frame)) = profile.chains.node(node) {
            let (in_tree, known) = memo.places[node.0 as usize];
            if in_tree == tree {
                place = known;
                break;
            }
            if let Some(&step) = steps.of_frame.get(frame.index()) {
                memo.pending.push((node, step));
            }
            node = parent;
        }
        while let Some((node, step)) = memo.pending.pop() {
            place = self.child(place, step, steps.is_shared(step));
            memo.places[node.0 as usize] = (tree, place);
        }
        place
    }

    /// The context of a node that is new to the tree.
    fn child(&mut self, parent: Place, step: StepId, shared: bool) -> Place {
        let next = self.contexts.len() as Place;
        let joined = shared || self.is_joined[parent as usize];
        let place = if joined { *self.joined.entry((parent, step)).or_insert(next) } else { next };
        if place == next {
            let depth = self.contexts[parent as usize].depth + 1;
            self.push(Context { parent, step, depth }, joined);
            if let Some(tree) = self.trees.last_mut() {
                tree.end = next + 1;
            }
        }
        place
    }

    fn push(&mut self, context: Context, joined: bool) {
        self.contexts.push(context);
        self.own.push(Weight::default());
        self.is_joined.push(joined);
    }

    /// Adds to what ends at a place.
    pub(crate) fn add(&mut self, place: Place, weight: Weight) {
        self.own[place as usize] += weight;
    }

    /// Ends the growing: sums the weights, links children.
    pub(crate) fn grown(self) -> Grown {
        let mut total = self.own;
        for (place, context) in self.contexts.iter().enumerate().rev() {
            if context.parent as usize != place {
                let weight = total[place];
                total[context.parent as usize] += weight;
            }
        }
        let children = Children::new(&self.contexts);
        Grown { contexts: self.contexts, trees: self.trees, total, children }
    }
}

/// A forest that grows no more.
#[derive(Debug, Default)]
pub(crate) struct Grown {
    contexts: Vec<Context>,
    trees: Vec<Range<Place>>,
    total: Vec<Weight>,
    children: Children,
}

impl Grown {
    /// A context.
    #[inline]
    pub(crate) fn context(&self, place: Place) -> Context {
        self.contexts[place as usize]
    }

    /// The caller; `None` at a root and above the outermost step.
    #[inline]
    pub(crate) fn caller(&self, place: Place) -> Option<Place> {
        let parent = self.context(place).parent;
        (self.context(parent).depth > 0 && parent != place).then_some(parent)
    }

    /// What ends at a place or below.
    #[inline]
    pub(crate) fn total(&self, place: Place) -> Weight {
        self.total[place as usize]
    }

    /// The contexts called from a place.
    #[inline]
    pub(crate) fn called(&self, place: Place) -> &[Place] {
        self.children.of(place)
    }

    /// The places of the `nth` tree, callers before callees.
    pub(crate) fn tree(&self, nth: usize) -> Range<Place> {
        self.trees.get(nth).cloned().unwrap_or(0..0)
    }

    /// Number of contexts, the roots counted in.
    pub(crate) fn len(&self) -> usize {
        self.contexts.len()
    }
}

/// The children of all places, one list cut into pieces.
#[derive(Debug, Default)]
struct Children {
    starts: Vec<u32>,
    places: Vec<Place>,
}

impl Children {
    fn new(contexts: &[Context]) -> Children {
        let mut starts = vec![0u32; contexts.len() + 1];
        let called = |(place, context): &(usize, &Context)| context.parent as usize != *place;
        for (_, context) in contexts.iter().enumerate().filter(called) {
            starts[context.parent as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut places = vec![0; starts.last().map_or(0, |&all| all as usize)];
        for (place, context) in contexts.iter().enumerate().filter(called) {
            let slot = &mut next[context.parent as usize];
            places[*slot as usize] = place as Place;
            *slot += 1;
        }
        Children { starts, places }
    }

    #[inline]
    fn of(&self, place: Place) -> &[Place] {
        let (start, end) = (self.starts[place as usize], self.starts[place as usize + 1]);
        &self.places[start as usize..end as usize]
    }
}
