//! The call tree of a flame graph: chains merged by what a reader sees (function and object), not by address.
//!
//! The [`Profile`]'s own tree tells every address apart; here two call sites of one function are one node, and the
//! outermost level is the thread's name. A node's `total` covers everything called from it, its `own` only itself.

mod build;
mod change;
mod fold;

use oxperf_profile::{EventProfile, Profile};

pub use change::ChangedTree;
pub use fold::Folded;

/// A merged call tree over names that stand in it once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlameTree {
    /// Names of functions and threads, each distinct text once.
    pub names: Vec<String>,
    /// Objects that functions belong to.
    pub dsos: Vec<FlameDso>,
    /// What a node can stand for.
    pub frames: Vec<FlameFrame>,
    /// The nodes, each behind its parent.
    pub nodes: Vec<FlameNode>,
    /// What [`FlameTree::fold`] took out.
    pub folded: Option<Folded>,
}

/// An object as a flame graph shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameDso {
    /// Last part of the path, or the name in brackets.
    pub name: String,
    /// The whole path, or the name in brackets.
    pub path: String,
    /// True if kernel code runs from it.
    pub kernel: bool,
}

/// A function of an object, or what stands in for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlameFrame {
    /// Index into [`FlameTree::names`].
    pub name: u32,
    /// Index into [`FlameTree::dsos`], where the object is known.
    pub dso: Option<u32>,
    /// What the name means.
    pub kind: FlameKind,
}

/// What a frame's name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlameKind {
    /// A thread, by its name.
    Thread,
    /// A function.
    Function,
    /// Code of an object without a symbol around it.
    Unresolved,
    /// Many stacks, each too small to be kept.
    Folded,
}

/// One function called from one chain of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameNode {
    /// Index of the caller's node, always smaller than the node's own; `None` at the outermost level.
    pub parent: Option<u32>,
    /// Index into [`FlameTree::frames`].
    pub frame: u32,
    /// What was spent in the function itself.
    pub own: FlameWeight,
    /// What was spent in it and in all that it called.
    pub total: FlameWeight,
}

/// How much a node weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlameWeight {
    /// Sum of the samples' periods, in the event's unit.
    pub value: u64,
    /// Number of samples.
    pub samples: u64,
}

impl FlameWeight {
    /// Adds another weight; stays at the largest number when it would not fit.
    pub fn add(&mut self, other: FlameWeight) {
        self.value = self.value.saturating_add(other.value);
        self.samples = self.samples.saturating_add(other.samples);
    }
}

impl FlameTree {
    /// Merges the samples of one event.
    ///
    /// A sample without a call chain counts for its own address, directly below its thread's name.
    pub fn of_event(profile: &Profile, event: &EventProfile) -> FlameTree {
        FlameTree::with_places(profile, event).0
    }

    /// Merges the samples of one event, and tells the node of each of its groups. A group has none only where the
    /// tree is as large as 32 bits can number.
    pub fn with_places(profile: &Profile, event: &EventProfile) -> (FlameTree, Vec<Option<u32>>) {
        let mut builder = build::Builder::new(profile);
        let places = event
            .groups
            .iter()
            .map(|group| builder.add(group))
            .collect();
        let mut tree = builder.finish();
        tree.sum_totals();
        (tree, places)
    }

    /// The nodes of a stack, from the innermost to the outermost, which is the thread's name.
    pub fn outwards(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        // A caller stands before what it calls: the walk ends even where a tree was not made by `of_event`.
        let caller = |&node: &u32| {
            self.nodes
                .get(node as usize)?
                .parent
                .filter(|&parent| parent < node)
        };
        std::iter::successors(
            Some(node).filter(|&node| (node as usize) < self.nodes.len()),
            caller,
        )
    }

    /// What a node stands for; `None` for a node that does not exist.
    pub fn frame_of(&self, node: u32) -> Option<&FlameFrame> {
        self.frames
            .get(self.nodes.get(node as usize)?.frame as usize)
    }

    /// The text of a frame's name.
    pub fn name_of(&self, frame: &FlameFrame) -> &str {
        self.names
            .get(frame.name as usize)
            .map_or("", String::as_str)
    }

    /// The object of a frame, where it is known.
    pub fn dso_of(&self, frame: &FlameFrame) -> Option<&FlameDso> {
        self.dsos.get(frame.dso? as usize)
    }

    /// The weight of the whole tree: all of the outermost nodes.
    pub fn total(&self) -> FlameWeight {
        let mut total = FlameWeight::default();
        for node in self.nodes.iter().filter(|node| node.parent.is_none()) {
            total.add(node.total);
        }
        total
    }

    /// Sets every node's `total` from the `own` of the nodes below it.
    pub fn sum_totals(&mut self) {
        for node in &mut self.nodes {
            node.total = node.own;
        }
        for index in (0..self.nodes.len()).rev() {
            let (before, rest) = self.nodes.split_at_mut(index);
            let Some(node) = rest.first() else { continue };
            if let Some(parent) = node
                .parent
                .and_then(|parent| before.get_mut(parent as usize))
            {
                parent.total.add(node.total);
            }
        }
    }
}

#[cfg(test)]
mod tests;
