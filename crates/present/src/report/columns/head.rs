//! The first cells of rows, remembered. Most rows weigh next to nothing, and there are few names of threads and objects: so
//! nearly every row begins with a text that another one has begun with.

use oxperf_analysis::hist::{Cell, Field, Measure, Row, SortKey};

use super::{Column, Columns, Memory, Weights};

/// Most cells that are remembered together.
const CELLS: usize = 4;
/// How many texts are remembered, as a power of two.
const SLOT_BITS: u32 = 8;

/// What the text of each cell depends on, beside its column.
type Marks = [u64; CELLS];

/// Texts of first cells.
#[derive(Default)]
pub(super) struct Heads {
    slots: Vec<Head>,
}

#[derive(Clone, Default)]
struct Head {
    marks: Marks,
    /// Nothing where none is remembered.
    text: Vec<u8>,
}

impl Heads {
    /// The only place of a text.
    fn slot(&mut self, marks: &Marks) -> &mut Head {
        self.slots.resize_with(1 << SLOT_BITS, Head::default);
        let mix = |mixed: u64, mark: &u64| {
            (mixed.rotate_left(5) ^ mark).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        &mut self.slots[(marks.iter().fold(0, mix) >> (u64::BITS - SLOT_BITS)) as usize]
    }
}

impl Columns<'_> {
    /// How many of the first columns depend on so little. The last is none of them: it is not filled up.
    pub(super) fn count_heads(list: &[Column<'_>]) -> usize {
        let others = list.len().saturating_sub(1).min(CELLS);
        list[..others]
            .iter()
            .take_while(|column| has_mark(column.field))
            .count()
    }

    /// Appends the first cells of a row of one event, and gives their number.
    pub(super) fn head(
        &self,
        buffer: &mut Vec<u8>,
        memory: &mut Memory,
        row: &Row,
        weights: Weights<'_>,
    ) -> usize {
        let &[cell] = weights.0 else { return 0 };
        let columns = &self.list[..self.heads];
        if columns.is_empty() {
            return 0;
        }
        let mut marks = Marks::default();
        for (mark, column) in marks.iter_mut().zip(columns) {
            *mark = self.mark(column.field, row, &cell);
        }
        let mut head = std::mem::take(memory.heads.slot(&marks));
        if head.text.is_empty() || head.marks != marks {
            head.text.clear();
            (0..columns.len()).for_each(|nth| self.cell(&mut head.text, memory, nth, row, weights));
            head.marks = marks;
        }
        buffer.extend_from_slice(&head.text);
        *memory.heads.slot(&marks) = head;
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
                let frame = self.profile.frames.get(row.frame.index());
                frame
                    .and_then(|frame| frame.dso)
                    .map_or(0, |dso| u64::from(dso.0) + 1)
            }
            Field::Key(_) => row.thread.0.into(),
        }
    }
}

/// Whether [`Columns::mark`] knows the column.
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
        columns.heads = Columns::count_heads(&columns.list);
        assert_eq!(columns.heads, 1);
        let mut memory = columns.memory();
        for row in rows.iter().chain(&rows) {
            let mut text = Vec::new();
            columns.row(&mut text, &mut memory, row, (&[Cell::default()], &[]));
            let line = String::from_utf8(text).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words, [&*row.comm.0.to_string(), "[.]", "0000000000000000"]);
        }
    }
}
