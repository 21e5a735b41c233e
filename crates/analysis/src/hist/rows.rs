//! Rows while they are counted: one for each task and location that samples add to.

use super::location::LocationId;
use super::task::TaskId;
use super::weight::Weight;

/// A place in an event's sample groups.
pub(crate) type GroupIndex = u32;

/// A row's counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowData {
    pub(crate) task: TaskId,
    pub(crate) location: LocationId,
    /// Samples whose own address lies there.
    pub(crate) own: Weight,
    /// Periods of these and of the samples that were called from there.
    pub(crate) all: u64,
    /// The first group that added to the row.
    pub(crate) first: GroupIndex,
    /// Length of the longest chain that was added.
    pub(crate) depth: u32,
}

/// The rows of one event, found by location within the task that is counted now.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) list: Vec<RowData>,
    /// For each location the task that last had a row there, counted from 1, and that row.
    slots: Vec<(u32, u32)>,
    task: u32,
}

impl Rows {
    /// No rows, for locations below a number.
    pub(crate) fn new(locations: usize) -> Rows {
        Rows { list: Vec::new(), slots: vec![(0, 0); locations], task: 0 }
    }

    /// Goes on to a task; each task comes once.
    pub(crate) fn begin(&mut self, task: TaskId) {
        self.task = task.0;
    }

    /// The row of a location, made for `group` if it is new; `group` becomes its first if it came earlier.
    #[inline]
    pub(crate) fn row(&mut self, location: LocationId, group: GroupIndex) -> &mut RowData {
        let slot = &mut self.slots[location.0 as usize];
        if slot.0 != self.task + 1 {
            *slot = (self.task + 1, self.list.len() as u32);
            let task = TaskId(self.task);
            let own = Weight::default();
            self.list.push(RowData { task, location, own, all: 0, first: group, depth: 0 });
        }
        let row = &mut self.list[slot.1 as usize];
        row.first = row.first.min(group);
        row
    }
}
