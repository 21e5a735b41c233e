//! The lines of a table: its rows, and the calls of those that are open between them.
//!
//! A million rows with a few open ones are a list of numbers and a short list of where calls stand; nothing is kept for
//! a line that is not on the screen.

use std::collections::BTreeMap;

use crate::calls::Calls;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A row of the table, by its number there.
    Row(u32),
    /// A line of the calls of a row.
    Call { row: u32, line: usize },
}

impl Line {
    /// The row that the line belongs to.
    pub(crate) fn row(self) -> u32 {
        match self {
            Line::Row(row) | Line::Call { row, .. } => row,
        }
    }
}

/// The lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// The rows that are shown, as numbers in the table, ascending.
    shown: Vec<u32>,
    open: BTreeMap<u32, Calls>,
    /// For each open row that is shown its place in `shown`, and how many lines of calls stand before those of it.
    stops: Vec<(usize, usize)>,
    count: usize,
}

impl Lines {
    /// Shows these rows, in ascending order.
    pub(crate) fn show(&mut self, rows: Vec<u32>) {
        self.shown = rows;
        self.layout();
    }

    /// Number of lines.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The rows that are shown.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.shown
    }

    /// The line of a number.
    pub(crate) fn get(&self, number: usize) -> Option<Line> {
        let passed = self
            .stops
            .partition_point(|&(place, before)| place + 1 + before <= number);
        let Some(&(place, before)) = passed.checked_sub(1).and_then(|last| self.stops.get(last))
        else {
            return self.shown.get(number).map(|&row| Line::Row(row));
        };
        let row = *self.shown.get(place)?;
        let behind = number - (place + 1 + before);
        let calls = self.open.get(&row).map_or(0, |calls| calls.lines().len());
        match behind.checked_sub(calls) {
            None => Some(Line::Call { row, line: behind }),
            Some(further) => self
                .shown
                .get(place + 1 + further)
                .map(|&row| Line::Row(row)),
        }
    }

    /// The number of a row's line, or of the one that would follow it.
    pub(crate) fn number_of(&self, row: u32) -> usize {
        let place = self.shown.partition_point(|&shown| shown < row);
        let passed = self.stops.partition_point(|&(stop, _)| stop < place);
        let before = self
            .stops
            .get(passed)
            .map_or_else(|| self.calls_of_all(), |&(_, before)| before);
        place + before
    }

    fn calls_of_all(&self) -> usize {
        self.count - self.shown.len()
    }

    /// The calls of an open row.
    pub(crate) fn calls(&self, row: u32) -> Option<&Calls> {
        self.open.get(&row)
    }

    /// Changes the calls of an open row.
    pub(crate) fn change(&mut self, row: u32, change: impl FnOnce(&mut Calls)) {
        if let Some(calls) = self.open.get_mut(&row) {
            change(calls);
            self.layout();
        }
    }

    /// Opens rows.
    pub(crate) fn open(&mut self, rows: impl IntoIterator<Item = (u32, Calls)>) {
        self.open.extend(rows);
        self.layout();
    }

    /// Closes a row.
    pub(crate) fn close(&mut self, row: u32) {
        self.open.remove(&row);
        self.layout();
    }

    /// Closes all rows.
    pub(crate) fn close_all(&mut self) {
        self.open.clear();
        self.layout();
    }

    fn layout(&mut self) {
        self.stops.clear();
        let mut before = 0;
        for (row, calls) in &self.open {
            let Ok(place) = self.shown.binary_search(row) else {
                continue;
            };
            self.stops.push((place, before));
            before += calls.lines().len();
        }
        self.count = self.shown.len() + before;
    }
}
