//! Tables: the rows of an event or a group of events, in order.

use std::ops::Range;

use super::access_kinds::PeriodsByKind;
use super::callgraph::CallTree;
use oxperf_profile::SampleTotals;
use oxperf_profile::{BranchId, BranchStepTotals, CommId, DetailId, FrameId, Level, ThreadId};

/// The rows of an event or of a group of events.
#[derive(Debug, Default)]
pub struct Table {
    /// The events that have samples, as indices of [`Profile::events`], in their order; at least one.
    pub events: Vec<usize>,
    /// True if they stand for a group, though the others of the group may have no samples.
    pub grouped: bool,
    /// True if rows count what was called from them.
    pub children: bool,
    /// Which row stands at each place: putting them there themselves would cost as much as making them.
    pub(super) order: Vec<u32>,
    pub(super) rows: Vec<Row>,
    /// For each row one cell an event.
    pub(super) cells: Vec<Cell>,
    /// The same; none unless they were asked for.
    pub(super) extras: Vec<Extra>,
    /// Call graphs with the place of their row, ascending.
    pub(super) trees: Vec<(u32, CallTree)>,
    /// The position of each row, in order, in the hierarchy; none of a plain table.
    pub(super) hierarchy: Vec<HierarchyRow>,
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
    /// A frame with the row's object, symbol and source line.
    pub frame: FrameId,
    /// The address to show where no symbol is known. Of a symbol that of the first sample, where addresses are kept apart.
    pub address: u64,
    /// The level to show.
    pub level: Level,
    /// The branch.
    pub branch: Option<BranchId>,
}

/// The position of a row in a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierarchyRow {
    /// How many rows it stands below.
    pub depth: usize,
    /// True if nothing stands below it.
    pub leaf: bool,
}

/// A row's weight in one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Samples that ran in the row.
    pub own: SampleTotals,
    /// Samples that ran in the row or were called from it; without children the same as `own`.
    pub all: SampleTotals,
}

impl Cell {
    /// True if any sample of the event led to the row.
    pub(super) fn is_counted(&self) -> bool {
        self.own.samples > 0 || self.all.samples > 0
    }
}

/// What else a row can weigh in one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Of the periods of samples that ran in the row those of each [`PrivilegeMode`](super::PrivilegeMode).
    pub modes: [u64; 4],
    /// Sums of their three weights.
    pub weights: [u64; 3],
    /// What the branches in the chains of its samples say.
    pub passed: BranchStepTotals,
    /// Their periods by kinds of accesses to memory, where samples tell of any.
    pub by_kind: Option<Box<PeriodsByKind>>,
}

impl Extra {
    pub(super) fn add(&mut self, other: &Extra) {
        let add = |(sum, more): (&mut u64, &u64)| *sum = sum.wrapping_add(*more);
        self.modes.iter_mut().zip(&other.modes).for_each(add);
        self.weights.iter_mut().zip(&other.weights).for_each(add);
        if let Some(other) = &other.by_kind {
            self.by_kind.get_or_insert_default().add(other);
        }
    }
}

impl Table {
    /// Number of rows, those below the limit of [`HistOptions::min_percent`](super::HistOptions::min_percent) among them.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The rows, heaviest first.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> + ExactSizeIterator + Clone {
        self.order.iter().map(|&row| &self.rows[row as usize])
    }

    /// The rows in no order, for what looks at all of them.
    pub fn unordered_rows(&self) -> &[Row] {
        &self.rows
    }

    /// A row by its place.
    #[inline]
    pub fn row(&self, place: usize) -> Option<&Row> {
        self.rows.get(*self.order.get(place)? as usize)
    }

    /// Leaves the rows out that do not pass.
    pub fn retain(&mut self, passes: impl Fn(&Row) -> bool) {
        let mut kept: Vec<bool> = self.rows().map(passes).collect();
        self.keep_heads(&mut kept);
        let is_kept = |place: usize| kept.get(place).copied().unwrap_or(false);
        let mut left = 0u32;
        let number = |&kept: &bool| {
            left += u32::from(kept);
            kept.then_some(left.saturating_sub(1))
        };
        let places: Vec<Option<u32>> = kept.iter().map(number).collect();
        self.order = (0..)
            .zip(&self.order)
            .filter(|&(place, _)| is_kept(place))
            .map(|(_, row)| *row)
            .collect();
        let hierarchy = (0..)
            .zip(&self.hierarchy)
            .filter(|&(place, _)| is_kept(place));
        self.hierarchy = hierarchy.map(|(_, place)| *place).collect();
        let place = |row: u32| places.get(row as usize).copied().flatten();
        let trees = std::mem::take(&mut self.trees).into_iter();
        self.trees = trees
            .filter_map(|(row, tree)| Some((place(row)?, tree)))
            .collect();
        self.settle();
    }

    /// Forgets the rows that stand nowhere, and puts the others in order.
    fn settle(&mut self) {
        let width = self.events.len();
        let part = |row: u32| row as usize * width..(row as usize + 1) * width;
        let order = std::mem::take(&mut self.order);
        let of = |row: &u32| self.rows.get(*row as usize).copied();
        self.rows = order.iter().filter_map(of).collect();
        self.cells = order
            .iter()
            .flat_map(|&row| self.cells.get(part(row)).unwrap_or(&[]))
            .copied()
            .collect();
        self.extras = order
            .iter()
            .flat_map(|&row| self.extras.get(part(row)).unwrap_or(&[]))
            .cloned()
            .collect();
        self.order = (0..order.len() as u32).collect();
    }

    /// In a hierarchy a row above others stays as long as one of them does.
    fn keep_heads(&self, kept: &mut [bool]) {
        let mut below = vec![
            false;
            self.hierarchy
                .iter()
                .map(|place| place.depth + 2)
                .max()
                .unwrap_or(0)
        ];
        for (kept, place) in kept.iter_mut().zip(&self.hierarchy).rev() {
            if !place.leaf {
                *kept = std::mem::take(&mut below[place.depth + 1]);
            }
            below[place.depth] |= *kept;
        }
    }

    /// The position of each row in the hierarchy; nothing for a plain table.
    pub fn hierarchy(&self) -> &[HierarchyRow] {
        &self.hierarchy
    }

    /// The weights of the row at a place, one for each of [`Table::events`]; none where there is no row.
    #[inline]
    pub fn cells(&self, place: usize) -> &[Cell] {
        self.part(place)
            .and_then(|part| self.cells.get(part))
            .unwrap_or(&[])
    }

    /// What else it weighs, in the same order; none unless it was asked for.
    pub fn extras(&self, place: usize) -> &[Extra] {
        self.part(place)
            .and_then(|part| self.extras.get(part))
            .unwrap_or(&[])
    }

    #[inline]
    fn part(&self, place: usize) -> Option<Range<usize>> {
        let (row, width) = (*self.order.get(place)? as usize, self.events.len());
        Some(row * width..(row + 1) * width)
    }

    /// The call graphs with the place of their row, ascending.
    pub fn trees(&self) -> &[(u32, CallTree)] {
        &self.trees
    }
}
