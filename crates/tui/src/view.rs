//! One table as it is seen: its lines, and the place of the cursor.

use oxperf_analysis::hist::{CallTree, Shape, Table};
use oxperf_present::report::{ReportText, RowText};
use oxperf_profile::{FrameId, Profile};

use crate::calls::{CallLine, Calls, Growth, Sign};
use crate::filter::Filter;
use crate::lines::{Line, Lines};

/// Columns that a level of calls takes.
const INDENT: usize = 3;

/// A table with a cursor.
pub(crate) struct View<'p> {
    pub(crate) table: Table,
    pub(crate) rows: RowText<'p>,
    pub(crate) lines: Lines,
    /// The line under the cursor.
    pub(crate) cursor: usize,
    /// The first line on the screen.
    top: usize,
    relative: bool,
    /// Calls are shown with their objects.
    pub(crate) objects: bool,
}

impl<'p> View<'p> {
    /// A table seen from its beginning.
    pub(crate) fn new(
        profile: &'p Profile,
        table: Table,
        text: &ReportText,
        filter: &Filter,
    ) -> View<'p> {
        let rows = RowText::new(profile, &table, text);
        let relative = text
            .graph
            .is_some_and(|graph| graph.shape == Shape::Fractal);
        let mut view = View {
            table,
            rows,
            lines: Lines::default(),
            cursor: 0,
            top: 0,
            relative,
            objects: false,
        };
        view.filter(profile, filter);
        view
    }

    /// Shows other columns of the same rows.
    pub(crate) fn lay_out(&mut self, profile: &'p Profile, text: &ReportText) {
        self.rows = RowText::new(profile, &self.table, text);
    }

    /// Shows the rows that pass; the cursor stays at its row, or near it.
    pub(crate) fn filter(&mut self, profile: &Profile, filter: &Filter) {
        let row = self.row();
        self.rows.weigh_in(None);
        let passing = filter.rows(profile, &self.table, &self.rows);
        if filter.relative {
            self.rows.weigh_in(Some(&self.weights(&passing)));
        }
        self.lines.show(passing);
        self.cursor = row.map_or(0, |row| self.lines.number_of(row));
        self.go(0);
    }

    /// The sum of the rows' own weights in each event.
    fn weights(&self, rows: &[u32]) -> Vec<u64> {
        let mut sums = vec![0u64; self.table.events.len()];
        for row in rows {
            let cells = self.table.cells(*row as usize);
            sums.iter_mut()
                .zip(cells)
                .for_each(|(sum, cell)| *sum = sum.saturating_add(cell.own.period));
        }
        sums
    }

    /// The line under the cursor.
    pub(crate) fn line(&self) -> Option<Line> {
        self.lines.get(self.cursor)
    }

    /// The row under the cursor, or whose calls are there.
    pub(crate) fn row(&self) -> Option<u32> {
        self.line().map(Line::row)
    }

    /// The frame of the line under the cursor.
    pub(crate) fn frame(&self) -> Option<FrameId> {
        match self.line()? {
            Line::Row(row) => Some(self.table.row(row as usize)?.frame),
            Line::Call { row, line } => Some(self.lines.calls(row)?.lines().get(line)?.frame),
        }
    }

    /// Moves the cursor by some lines, inside the table.
    pub(crate) fn go(&mut self, by: isize) {
        let last = self.lines.count().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }

    /// The first line on a screen of so many lines, so that the cursor is on it.
    pub(crate) fn top(&mut self, height: usize) -> usize {
        let most = self.lines.count().saturating_sub(height);
        self.top = self
            .top
            .min(most)
            .min(self.cursor)
            .max((self.cursor + 1).saturating_sub(height));
        self.top
    }

    /// The call graph of a row.
    pub(crate) fn tree(&self, row: u32) -> Option<&CallTree> {
        let trees = self.table.trees();
        let at = trees.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        trees.get(at).map(|(_, tree)| tree)
    }

    fn growth(&self, row: u32) -> Growth {
        let own = self
            .table
            .cells(row as usize)
            .first()
            .map_or(0, |cell| cell.all.period);
        Growth {
            whole: if self.relative {
                own
            } else {
                self.rows.total()
            },
            relative: self.relative,
        }
    }

    /// Opens or closes what the line under the cursor stands for. Says whether there was anything.
    pub(crate) fn toggle(&mut self) -> bool {
        match self.line() {
            Some(Line::Row(row)) => self.toggle_row(row),
            Some(Line::Call { row, line }) => self.toggle_branch(row, line),
            None => false,
        }
    }

    fn toggle_row(&mut self, row: u32) -> bool {
        let calls = self.tree(row).map(|tree| Calls::of(tree, self.growth(row)));
        match (self.lines.calls(row).is_some(), calls) {
            (true, _) => self.lines.close(row),
            (false, Some(calls)) => self.lines.open([(row, calls)]),
            (false, None) => return false,
        }
        true
    }

    fn toggle_branch(&mut self, row: u32, line: usize) -> bool {
        let growth = self.growth(row);
        let trees = self.table.trees();
        let Ok(at) = trees.binary_search_by_key(&row, |(row, _)| *row) else {
            return false;
        };
        let Some((_, tree)) = trees.get(at) else {
            return false;
        };
        self.lines
            .change(row, |calls| calls.toggle(line, tree, growth));
        true
    }

    /// Opens all of the row under the cursor, or closes it; the cursor goes to the row.
    pub(crate) fn toggle_all_of_row(&mut self) -> bool {
        let Some(row) = self.row() else { return false };
        let calls = self
            .tree(row)
            .map(|tree| Calls::all_of(tree, self.growth(row)));
        match (self.lines.calls(row).is_some(), calls) {
            (true, _) => self.lines.close(row),
            (false, Some(calls)) => self.lines.open([(row, calls)]),
            (false, None) => return false,
        }
        self.cursor = self.lines.number_of(row);
        true
    }

    /// Opens every row that is shown and has calls.
    pub(crate) fn open_all(&mut self) {
        let shown = self.lines.rows();
        let calls = self
            .table
            .trees()
            .iter()
            .filter(|(row, _)| shown.binary_search(row).is_ok());
        let calls: Vec<(u32, Calls)> = calls
            .map(|(row, tree)| (*row, Calls::all_of(tree, self.growth(*row))))
            .collect();
        let row = self.row();
        self.lines.open(calls);
        self.cursor = row.map_or(0, |row| self.lines.number_of(row));
    }

    /// Closes every row.
    pub(crate) fn close_all(&mut self) {
        let row = self.row();
        self.lines.close_all();
        self.cursor = row.map_or(0, |row| self.lines.number_of(row));
    }

    /// A line as text.
    pub(crate) fn text(&self, line: Line) -> String {
        match line {
            Line::Row(row) => self.row_text(row),
            Line::Call { row, line } => {
                let call = self
                    .lines
                    .calls(row)
                    .and_then(|calls| calls.lines().get(line));
                call.map(|call| self.call_text(call)).unwrap_or_default()
            }
        }
    }

    fn row_text(&self, row: u32) -> String {
        let sign = match (self.lines.calls(row).is_some(), self.tree(row).is_some()) {
            (true, _) => Sign::Open,
            (false, true) => Sign::Closed,
            (false, false) => Sign::Leaf,
        };
        let text = self.rows.row(&self.table, row as usize);
        format!("{}{}", sign.letter(), text.get(1..).unwrap_or_default())
    }

    fn call_text(&self, call: &CallLine) -> String {
        let indent = INDENT * (call.level + 1);
        let part = call
            .part
            .map(|(weight, whole)| format!("{} ", self.rows.weight(&self.table, weight, whole)));
        let mut name = self.rows.frame(&self.table, call.frame);
        if self.objects {
            name.push(' ');
            name.push_str(&self.rows.object(call.frame));
        }
        let blanks = " ".repeat(indent);
        format!(
            "{blanks}{} {}{name}",
            call.sign.letter(),
            part.unwrap_or_default()
        )
    }

    /// The part of all samples that a line's row has; `None` for calls.
    pub(crate) fn percent(&self, line: Line) -> Option<f64> {
        match line {
            Line::Row(row) => Some(self.rows.percent(&self.table, row as usize)),
            Line::Call { .. } => None,
        }
    }

    /// All lines as text, as they are seen.
    pub(crate) fn export(&self) -> String {
        let lines = (0..self.lines.count()).filter_map(|number| self.lines.get(number));
        lines.map(|line| self.text(line) + "\n").collect()
    }
}
