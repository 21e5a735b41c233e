//! Rows while they are counted: one for each location that samples of a task add to.

use super::location::LocationId;
use super::task::TaskId;
use oxperf_profile::SampleTotals;

/// A place in an event's sample groups.
pub(crate) type GroupIndex = u32;

/// A row's counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowData {
    pub(crate) task: TaskId,
    pub(crate) location: LocationId,
    /// Samples whose own address lies there.
    pub(crate) own: SampleTotals,
    /// These and the samples that were called from there.
    pub(crate) all: SampleTotals,
    /// The first group that added to the row.
    pub(crate) first: GroupIndex,
    /// Length of the longest chain that was added.
    pub(crate) depth: u32,
    /// True if the chain of the first group, read from its outermost frame, came through an object before the row.
    pub(crate) passed_object: bool,
}

/// The rows of one task, found by location.
#[derive(Debug)]
pub(crate) struct Rows {
    list: Vec<RowData>,
    slots: Vec<Slot>,
    task: TaskId,
    /// Counts the tasks, from 1 on.
    turn: u32,
}

/// What is known of a location.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The task that last came by.
    turn: u32,
    /// Its row here, counted from 1; 0 for none yet.
    row: u32,
    /// The last group that came by, counted from 1.
    group: u32,
}

impl Rows {
    /// No rows, for locations below a number.
    pub(crate) fn new(locations: usize) -> Rows {
        Rows {
            list: Vec::new(),
            slots: vec![Slot::default(); locations],
            task: TaskId(0),
            turn: 0,
        }
    }

    /// Goes on to another task.
    pub(crate) fn begin(&mut self, task: TaskId) {
        self.task = task;
        self.turn += 1;
    }

    /// The rows of the task.
    pub(crate) fn take(&mut self) -> Vec<RowData> {
        std::mem::take(&mut self.list)
    }

    /// Comes to a location with a group; tells whether it had not been there before with this one. Groups come one after
    /// another.
    #[inline]
    pub(crate) fn enter(&mut self, location: LocationId, group: GroupIndex) -> bool {
        let slot = self.slot(location);
        std::mem::replace(&mut slot.group, group + 1) != group + 1
    }

    /// The row of a location, made for `group` if it is new; `group` becomes its first if it came earlier.
    #[inline]
    pub(crate) fn row(&mut self, location: LocationId, group: GroupIndex) -> &mut RowData {
        let row = self.find(location, group);
        row.first = row.first.min(group);
        row
    }

    /// The same for a group that was called from there, which has passed an object on its way or not.
    #[inline]
    pub(crate) fn caller(
        &mut self,
        location: LocationId,
        group: GroupIndex,
        passed_object: bool,
    ) -> &mut RowData {
        let row = self.find(location, group);
        if group <= row.first {
            row.first = group;
            row.passed_object = passed_object;
        }
        row
    }

    #[inline]
    fn slot(&mut self, location: LocationId) -> &mut Slot {
        let (turn, slot) = (self.turn, &mut self.slots[location.index()]);
        if slot.turn != turn {
            *slot = Slot {
                turn,
                ..Slot::default()
            };
        }
        slot
    }

    #[inline]
    fn find(&mut self, location: LocationId, group: GroupIndex) -> &mut RowData {
        let (task, next) = (self.task, self.list.len() as u32 + 1);
        let slot = self.slot(location);
        if slot.row == 0 {
            slot.row = next;
        }
        let row = slot.row;
        if row == next {
            let own = SampleTotals::default();
            self.list.push(RowData {
                task,
                location,
                own,
                all: SampleTotals::default(),
                first: group,
                depth: 0,
                passed_object: false,
            });
        }
        &mut self.list[row as usize - 1]
    }
}
