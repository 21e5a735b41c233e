//! A row's line: first cells that other rows begin with, too, and the cells behind them.

use oxperf_analysis::hist::{Cell, Field, Measure, Row, SortKey};

use super::prefix_cache::{CELLS, Marks};
use super::row::{RowCache, WeighedRow};
use super::{Column, Columns};

impl Columns<'_> {
    /// Appends a row's line.
    pub(in crate::report) fn row(
        &self,
        buffer: &mut Vec<u8>,
        cache: &mut RowCache,
        row: WeighedRow<'_>,
    ) {
        let cached = self.prefix(buffer, cache, row);
        (cached..self.list.len()).for_each(|nth| self.cell(buffer, cache, nth, row));
        buffer.push(b'\n');
    }

    /// Number of the first columns that depend on so little. The last is none of them: it is not filled up.
    pub(super) fn count_prefix(list: &[Column<'_>]) -> usize {
        let others = list.len().saturating_sub(1).min(CELLS);
        list[..others]
            .iter()
            .take_while(|column| has_mark(column.field))
            .count()
    }

    /// Appends the first cells of a row of one event, and gives their number.
    fn prefix(&self, buffer: &mut Vec<u8>, cache: &mut RowCache, row: WeighedRow<'_>) -> usize {
        let &[cell] = row.cells else { return 0 };
        let columns = &self.list[..self.prefix_len];
        if columns.is_empty() {
            return 0;
        }
        let mut marks = Marks::default();
        for (mark, column) in marks.iter_mut().zip(columns) {
            *mark = self.mark(column.field, row.row, &cell);
        }
        let mut prefix = std::mem::take(cache.prefixes.slot(&marks));
        if prefix.text.is_empty() || prefix.marks != marks {
            prefix.text.clear();
            (0..columns.len()).for_each(|nth| self.cell(&mut prefix.text, cache, nth, row));
            prefix.marks = marks;
        }
        buffer.extend_from_slice(&prefix.text);
        *cache.prefixes.slot(&marks) = prefix;
        columns.len()
    }

    /// Cells of a column whose marks are equal have the same text.
    fn mark(&self, field: Field, row: &Row, cell: &Cell) -> u64 {
        let percent = |part: u64| {
            self.percents
                .first()
                .map_or(0, |percents| percents.mark(part))
        };
        match field {
            Field::Measure(Measure::Children) => percent(cell.all.period),
            Field::Measure(_) => percent(cell.own.period),
            Field::Key(SortKey::Comm) => row.comm.0.into(),
            Field::Key(SortKey::Dso) => {
                let frame = self.names.profile.frames.get(row.frame.index());
                frame
                    .and_then(|frame| frame.dso)
                    .map_or(0, |dso| u64::from(dso.0) + 1)
            }
            Field::Key(_) => row.thread.0.into(),
        }
    }
}

/// True for a column that [`Columns::mark`] knows.
fn has_mark(field: Field) -> bool {
    match field {
        Field::Measure(measure) => matches!(measure, Measure::Children | Measure::Own),
        Field::Key(key) => {
            matches!(
                key,
                SortKey::Comm | SortKey::Dso | SortKey::Thread | SortKey::Process
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{Pid, Tid};
    use oxperf_profile::{CommId, DetailId, FrameId, Level, Profile, ProfileThread, ThreadId};

    use super::super::super::ReportText;
    use super::super::prefix_cache::SLOT_BITS;
    use super::*;

    #[test]
    fn rows_whose_texts_share_a_place_keep_their_own() {
        const NAMES: u32 = 3 << SLOT_BITS;
        let last = ProfileThread {
            pid: Pid(1),
            tid: Tid(1),
            comm: CommId(NAMES - 1),
        };
        let comms = (0..NAMES).map(|name| name.to_string()).collect();
        let profile = Profile {
            comms,
            threads: vec![last],
            ..Profile::default()
        };
        let row = |name| Row {
            thread: ThreadId(0),
            comm: CommId(name),
            detail: DetailId(0),
            frame: FrameId(0),
            address: 0,
            level: Level::User,
            branch: None,
        };
        let rows: Vec<Row> = (0..NAMES).map(row).collect();
        let keys = [SortKey::Comm, SortKey::Symbol].map(Field::Key);
        let text = ReportText {
            columns: keys.to_vec(),
            ..ReportText::default()
        };
        let mut columns = Columns::of_keys(&profile, &rows, &text);
        columns.prefix_len = Columns::count_prefix(&columns.list);
        assert_eq!(columns.prefix_len, 1);
        let mut cache = columns.row_cache();
        for row in rows.iter().chain(&rows) {
            let mut text = Vec::new();
            let weighed = WeighedRow {
                row,
                cells: &[Cell::default()],
                extras: &[],
            };
            columns.row(&mut text, &mut cache, weighed);
            let line = String::from_utf8(text).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words, [&*row.comm.0.to_string(), "[.]", "0000000000000000"]);
        }
    }
}
