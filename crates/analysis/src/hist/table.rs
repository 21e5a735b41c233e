//! Tables: the rows of an event or a group of events, in order.

use super::callgraph::CallTree;
use super::outline::OutlineRow;
use super::weight::Weight;
use crate::profile::{BranchId, CommId, DetailId, FrameId, Level, Passed, SourceId, ThreadId};

/// The rows of an event or of a group of events.
#[derive(Debug, Default)]
pub struct Table {
    /// The events that have samples, as indices of [`Profile::events`], in their order; at least one.
    pub events: Vec<usize>,
    /// Whether they stand for a group, though the others of the group may have no samples.
    pub grouped: bool,
    /// Whether rows count what was called from them.
    pub children: bool,
    pub(super) rows: Vec<Row>,
    /// For each row one cell an event.
    pub(super) cells: Vec<Cell>,
    /// The same; none unless they were asked for.
    pub(super) extras: Vec<Extra>,
    /// Call graphs with the index of their row, ascending.
    pub(super) trees: Vec<(u32, CallTree)>,
    /// Where each row stands in the outline; none of a plain table.
    pub(super) outline: Vec<OutlineRow>,
}

/// What a row is about. A column shows the field that its key names; the others are those of the row's first sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The thread.
    pub thread: ThreadId,
    /// The thread's name.
    pub comm: CommId,
    /// What else keys ask for.
    pub detail: DetailId,
    /// A frame with the row's object and symbol.
    pub frame: FrameId,
    /// The address to show where no symbol is known.
    pub address: u64,
    /// The level to show.
    pub level: Level,
    /// The branch.
    pub branch: Option<BranchId>,
    /// The texts of its source line and file, where a key asks for them.
    pub source: [Option<SourceId>; 2],
    /// The size of its symbol, where a key asks for it; 0 without one.
    pub symbol_size: u64,
}

/// A row's weight in one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Samples that ran in the row.
    pub own: Weight,
    /// Samples that ran in the row or were called from it; without children the same as `own`.
    pub all: Weight,
}

/// What else a row can weigh in one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Of the periods of samples that ran in the row those of each [`Mode`](super::Mode).
    pub modes: [u64; 4],
    /// Sums of their three weights.
    pub weights: [u64; 3],
    /// What the branches in the chains of its samples say.
    pub passed: Passed,
}

impl Extra {
    pub(super) fn add(&mut self, other: &Extra) {
        let add = |(sum, more): (&mut u64, &u64)| *sum = sum.wrapping_add(*more);
        self.modes.iter_mut().zip(&other.modes).for_each(add);
        self.weights.iter_mut().zip(&other.weights).for_each(add);
    }
}

impl Table {
    /// The rows, heaviest first; those below the limit of [`HistOptions::min_percent`] are among them.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Leaves the rows out that do not pass.
    pub fn retain(&mut self, passes: impl Fn(&Row) -> bool) {
        let width = self.events.len();
        let mut kept: Vec<bool> = self.rows.iter().map(passes).collect();
        self.keep_heads(&mut kept);
        let places = kept.iter().scan(0u32, |next, &kept| {
            let place = *next;
            *next += u32::from(kept);
            Some(kept.then_some(place))
        });
        let places: Vec<Option<u32>> = places.collect();
        let is_kept = |row: usize| kept.get(row).copied().unwrap_or(false);
        self.rows = (0..).zip(&self.rows).filter(|&(row, _)| is_kept(row)).map(|(_, row)| *row).collect();
        let cells = (0..).zip(&self.cells).filter(|&(cell, _)| is_kept(cell / width.max(1)));
        self.cells = cells.map(|(_, cell)| *cell).collect();
        let extras = (0..).zip(&self.extras).filter(|&(extra, _)| is_kept(extra / width.max(1)));
        self.extras = extras.map(|(_, extra)| *extra).collect();
        let outline = (0..).zip(&self.outline).filter(|&(row, _)| is_kept(row));
        self.outline = outline.map(|(_, place)| *place).collect();
        let place = |row: u32| places.get(row as usize).copied().flatten();
        let trees = std::mem::take(&mut self.trees).into_iter();
        self.trees = trees.filter_map(|(row, tree)| Some((place(row)?, tree))).collect();
    }

    /// In an outline a row above others stays as long as one of them does.
    fn keep_heads(&self, kept: &mut [bool]) {
        let mut below = vec![false; self.outline.iter().map(|place| place.depth + 2).max().unwrap_or(0)];
        for (kept, place) in kept.iter_mut().zip(&self.outline).rev() {
            if !place.leaf {
                *kept = std::mem::take(&mut below[place.depth + 1]);
            }
            below[place.depth] |= *kept;
        }
    }

    /// Where each row stands in the outline; nothing for a plain table.
    pub fn outline(&self) -> &[OutlineRow] {
        &self.outline
    }

    /// The weights of a row, one for each of [`Table::events`]; none for a row that is not there.
    #[inline]
    pub fn cells(&self, row: usize) -> &[Cell] {
        let width = self.events.len();
        self.cells.get(row * width..(row + 1) * width).unwrap_or(&[])
    }

    /// What else a row weighs, in the same order; none unless it was asked for.
    pub fn extras(&self, row: usize) -> &[Extra] {
        let width = self.events.len();
        self.extras.get(row * width..(row + 1) * width).unwrap_or(&[])
    }

    /// The call graphs with the index of their row, ascending.
    pub fn trees(&self) -> &[(u32, CallTree)] {
        &self.trees
    }
}
