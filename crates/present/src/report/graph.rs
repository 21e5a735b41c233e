//! Call graphs: as trees of lines, or chain by chain.

mod labels;
mod list;
mod rails;
mod tree;

use oxperf_analysis::hist::{CallTree, Shape};

pub(super) use labels::GraphLabels;
use tree::TreeDrawing;

/// The look of call graphs.
#[derive(Clone, Copy, Debug)]
pub struct GraphText {
    /// The drawing.
    pub shape: Shape,
    /// The number at a branch.
    pub value: GraphValue,
    /// Most lines of a stem, branches of a fork and chains of a list; `None` for no limit.
    pub limit: Option<usize>,
    /// Leave out the stem's first line because the row names the same symbol: the first key was asked for and is
    /// the symbol.
    pub skip_first: bool,
    /// Show percentages in colours.
    pub coloured: bool,
    /// Source lines stand behind the functions.
    pub with_source: bool,
}

/// The number at a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphValue {
    /// Its part of all samples, or of the branch above.
    #[default]
    Percent,
    /// The sum of its samples' periods.
    Period,
    /// The number of its samples.
    Count,
}

impl GraphLabels<'_> {
    /// Draws the graph of a row of weight `row`.
    pub(super) fn draw(&self, buffer: &mut Vec<u8>, tree: &CallTree, row: u64) {
        let whole = match self.text.shape {
            Shape::Flat => return list::flat(self, buffer, tree),
            Shape::Folded => return list::folded(self, buffer, tree),
            Shape::Graph => self.total,
            Shape::Fractal => row,
        };
        let mut drawing = TreeDrawing {
            labels: self,
            buffer,
            tree,
        };
        drawing.draw(row, whole);
    }
}
