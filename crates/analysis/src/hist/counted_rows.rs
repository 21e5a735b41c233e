//! The rows of a table with their weights, in no order: rows of several events that are about the same are one.

use oxperf_profile::ThreadId;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::count::Counted;
use super::location::LocationId;
use super::measure::Measure;
use super::order::Chain;
use super::rows::{GroupIndex, RowData};
use super::table::{Cell, Extra};
use super::table_context::TableContext;
use super::task::TaskId;

/// The identity of a row.
pub(crate) type RowKey = (TaskId, LocationId);

/// A row that has been counted.
#[derive(Clone, Copy)]
pub(crate) struct CountedRow {
    pub(crate) task: TaskId,
    pub(crate) location: LocationId,
    /// The first of the table's events that saw the row, and its first sample there.
    pub(crate) member: u32,
    pub(crate) first: GroupIndex,
    thread: ThreadId,
    depth: u32,
    pub(crate) passed_object: bool,
}

impl CountedRow {
    /// The identity of the row.
    #[inline]
    pub(crate) fn key(&self) -> RowKey {
        (self.task, self.location)
    }

    /// The thread of the first sample.
    pub(crate) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The thread and the length of the longest chain.
    #[inline]
    pub(crate) fn chain(&self) -> Chain {
        (self.thread, self.depth)
    }
}

/// All rows of a table.
pub(crate) struct CountedRows {
    /// Number of the table's events.
    width: usize,
    pub(crate) list: Vec<CountedRow>,
    /// For each row one cell an event.
    pub(crate) cells: Vec<Cell>,
    /// For each row one an event; none unless they were asked for.
    pub(crate) extras: Vec<Extra>,
}

impl CountedRows {
    /// Takes the rows of each of the table's events out of what was counted.
    pub(crate) fn take(context: &TableContext<'_>, counted: &mut [Counted]) -> CountedRows {
        let mut rows = CountedRows {
            width: context.events.len(),
            list: Vec::new(),
            cells: Vec::new(),
            extras: Vec::new(),
        };
        match counted {
            [] => {}
            [only] => rows.take_one(context, only),
            several => rows.join(context, several),
        }
        rows
    }

    /// Puts rows of several events that are about the same into one.
    fn join(&mut self, context: &TableContext<'_>, counted: &mut [Counted]) {
        let of_leader = counted.first().map(|leader| leader.rows.iter());
        let count = of_leader.map_or(0, |rows| rows.map(Vec::len).sum());
        let width = self.width;
        self.list.reserve(count);
        self.cells.reserve(count * width);
        let mut known: FxHashMap<RowKey, usize> = FxHashMap::default();
        for (member, counted) in counted.iter_mut().enumerate() {
            for row in std::mem::take(&mut counted.rows).into_iter().flatten() {
                let next = self.list.len();
                let index = *known.entry((row.task, row.location)).or_insert(next);
                if index == next {
                    self.list.push(counted_row(context, member, &row));
                    self.cells.resize(self.cells.len() + width, Cell::default());
                }
                self.cells[index * width + member] = cell(context, &row);
            }
        }
    }

    /// Takes the rows of one event, which are about different things.
    fn take_one(&mut self, context: &TableContext<'_>, counted: &mut Counted) {
        let counted = std::mem::take(&mut counted.rows);
        let ends: Vec<usize> = counted
            .iter()
            .scan(0, |end, part| {
                *end += part.len();
                Some(*end)
            })
            .collect();
        // All cores take rows, each by its index among all.
        let taken = (0..ends.last().copied().unwrap_or(0))
            .into_par_iter()
            .map(|index| {
                let part = ends.partition_point(|end| *end <= index);
                let row = &counted[part][counted[part].len() - (ends[part] - index)];
                (counted_row(context, 0, row), cell(context, row))
            });
        (self.list, self.cells) = taken.unzip();
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The identities of all rows.
    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = RowKey> + Clone + Send + '_ {
        self.list.iter().map(CountedRow::key)
    }

    /// The weights of a row in the first event.
    #[inline]
    pub(crate) fn leader(&self, row: u32) -> &Cell {
        &self.cells[row as usize * self.width]
    }

    /// The weights of a row in each event.
    #[inline]
    pub(crate) fn cells(&self, row: u32) -> &[Cell] {
        &self.cells[row as usize * self.width..(row as usize + 1) * self.width]
    }

    /// The other sums of a row in each event; none unless they were asked for.
    pub(crate) fn extras(&self, row: u32) -> &[Extra] {
        self.extras
            .get(row as usize * self.width..(row as usize + 1) * self.width)
            .unwrap_or(&[])
    }

    /// The rank of a row by a measure in one of the events.
    pub(crate) fn rank(&self, row: u32, member: u32, measure: Measure) -> u64 {
        let index = row as usize * self.width + member as usize;
        let none = Extra::default();
        measure.rank(&self.cells[index], self.extras.get(index).unwrap_or(&none))
    }
}

fn counted_row(context: &TableContext<'_>, member: usize, row: &RowData) -> CountedRow {
    CountedRow {
        task: row.task,
        location: row.location,
        member: member as u32,
        first: row.first,
        thread: context.group(member, row.first).thread,
        // Chains count where the leading event has them; its table only borrows rows from the others.
        depth: if member == 0 { row.depth } else { 0 },
        passed_object: row.passed_object,
    }
}

fn cell(context: &TableContext<'_>, row: &RowData) -> Cell {
    let all = if context.scope.children {
        row.all
    } else {
        row.own
    };
    Cell { own: row.own, all }
}
