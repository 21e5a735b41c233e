//! The call graph of a row, built for the rows that show one.
//!
//! A graph is cct from its first line by a frontier: the set of contexts that the line stands for, moved together
//! one step inwards (callers first) or outwards (callees first). Lines that weigh less than the limit are not
//! followed, so a graph costs what it shows and not what the row has seen.

pub(crate) mod frontier;
mod tree;

pub use tree::{CallBranch, CallTree};

pub(crate) use tree::grow;

use oxperf_profile::ChainOrder;

/// The drawing of a call graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A tree, percentages of all samples.
    #[default]
    Graph,
    /// A tree, percentages of the branch above.
    Fractal,
    /// Every chain as a column.
    Flat,
    /// Every chain as a line.
    Folded,
}

impl Shape {
    /// True if chains stand alone and not in a tree.
    pub const fn is_list(self) -> bool {
        matches!(self, Shape::Flat | Shape::Folded)
    }
}

/// What call graphs hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallGraphOptions {
    /// The drawing.
    pub shape: Shape,
    /// The direction.
    pub order: ChainOrder,
    /// Branches below this part of all samples (of the branch above, with [`Shape::Fractal`]) are left out, in
    /// hundredths.
    pub min_percent: f64,
    /// Lines are told apart by addresses, not by functions.
    pub by_address: bool,
}

impl CallGraphOptions {
    /// perf's limit.
    pub const MIN_PERCENT: f64 = 0.5;
}
