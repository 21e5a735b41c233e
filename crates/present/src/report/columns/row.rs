//! The cells of a row, each in its column.

use oxperf_analysis::hist::{Cell, Extra, Field, Measure, Row, SortKey, without_digits};

use super::cells::{
    cut, fill, pad, push_counts, push_cut, push_means, push_narrow, push_padded, push_passed,
    push_percents, replace, spread,
};
use super::prefix_cache::PrefixCache;
use super::{Column, Columns, accesses, branches, code, details};
use crate::report::percent::Percents;

/// A row with its weight in each event.
#[derive(Clone, Copy)]
pub(in crate::report) struct WeighedRow<'a> {
    /// The row.
    pub(in crate::report) row: &'a Row,
    /// Weights that every row has, one for each event.
    pub(in crate::report) cells: &'a [Cell],
    /// Weights that columns ask for; none, or one for each event.
    pub(in crate::report) extras: &'a [Extra],
}

/// The space of a cell.
#[derive(Clone, Copy)]
pub(crate) struct CellSlot {
    /// Characters of its column.
    pub(crate) width: usize,
    /// No other cell follows: long texts are not filled up then.
    pub(crate) last: bool,
}

impl CellSlot {
    /// The width up to which a text is filled that may stand last.
    pub(super) fn filled(self) -> usize {
        if self.last { 0 } else { self.width }
    }
}

/// Texts that a worker keeps from row to row.
pub(in crate::report) struct RowCache {
    all: Vec<Percents>,
    own: Vec<Percents>,
    all_latency: Vec<Percents>,
    own_latency: Vec<Percents>,
    modes: Vec<Percents>,
    pub(super) prefixes: PrefixCache,
}

impl Columns<'_> {
    /// The cache for [`Columns::row`] before the first row.
    pub(in crate::report) fn row_cache(&self) -> RowCache {
        RowCache {
            all: self.percents.clone(),
            own: self.percents.clone(),
            all_latency: self.latencies.clone(),
            own_latency: self.latencies.clone(),
            modes: self.percents.clone(),
            prefixes: PrefixCache::default(),
        }
    }

    /// Appends one cell of a row, and the text before it.
    pub(super) fn cell(
        &self,
        buffer: &mut Vec<u8>,
        cache: &mut RowCache,
        nth: usize,
        row: WeighedRow<'_>,
    ) {
        let last = self.list.len().saturating_sub(1);
        if nth > 0 || self.separator.is_none() {
            buffer.extend_from_slice(self.between());
        }
        let start = buffer.len();
        let Column {
            field,
            width,
            requested_width,
            ..
        } = self.list[nth];
        match field {
            Field::Measure(Measure::Kinds(kinds)) => {
                return self.kinds_cell(buffer, kinds, row.extras.first(), &self.list[nth].kinds);
            }
            Field::Measure(measure) => self.measure(buffer, cache, measure, row),
            Field::Key(key) => {
                let last = nth == last && requested_width.is_none();
                self.key(buffer, key, row, CellSlot { width, last });
            }
        }
        self.fill_up(buffer, start, nth);
        self.cut_to_width(buffer, start, nth, row.row);
    }

    /// Fills a cell up to its column, unless its width was asked for.
    fn fill_up(&self, buffer: &mut Vec<u8>, start: usize, nth: usize) {
        let last = self.list.len().saturating_sub(1);
        let Column {
            field,
            width,
            requested_width,
            ..
        } = self.list[nth];
        match (field, self.separator.as_deref(), requested_width) {
            (Field::Measure(measure), None, None) if measure.is_of_branches() => {
                pad(buffer, start, width)
            }
            (Field::Measure(_), None, None) => fill(buffer, start, width),
            (Field::Key(_), ..) if nth < last => pad(buffer, start, width),
            _ => {}
        }
    }

    /// Cuts a cell to the width that was asked for, and replaces separators within it.
    fn cut_to_width(&self, buffer: &mut Vec<u8>, start: usize, nth: usize, row: &Row) {
        let Column {
            field,
            width,
            requested_width,
            ..
        } = self.list[nth];
        let names = &self.names;
        match (field, self.separator.as_deref(), requested_width) {
            (Field::Key(_), Some(separator), _) => replace(buffer, start, separator),
            // As perf does it, addresses are never cut.
            (Field::Key(SortKey::Symbol), None, Some(_))
                if names.symbol_name(row.frame).is_none() => {}
            (Field::Key(SortKey::Branch(key)), None, Some(_))
                if branches::is_address(names, key, row) => {}
            (Field::Key(SortKey::Access(key)), None, Some(_))
                if accesses::is_never_cut(names, key, row) => {}
            // As perf does it, records of tracepoints are cut, and not filled up.
            (Field::Key(SortKey::Trace), None, Some(width)) if buffer.len() < start + width => {}
            (Field::Key(_), None, Some(width)) => cut(buffer, start, width),
            (Field::Key(_), None, None) => {}
            (_, Some(_), _) => spread(buffer, start, 0, width),
            (_, None, Some(wished)) => spread(buffer, start, wished, width),
            (_, None, None) => {}
        }
    }

    /// Appends the numbers of a measure, one for each event.
    pub(super) fn measure(
        &self,
        buffer: &mut Vec<u8>,
        cache: &mut RowCache,
        measure: Measure,
        row: WeighedRow<'_>,
    ) {
        let WeighedRow { cells, extras, .. } = row;
        match measure {
            Measure::Children if !self.children => {
                buffer.extend_from_slice(b"     N/A");
                cells
                    .iter()
                    .skip(1)
                    .for_each(|_| buffer.extend_from_slice(b"        "));
            }
            Measure::Children => {
                push_percents(buffer, &mut cache.all, cells, |cell| cell.all.period)
            }
            Measure::ChildrenLatency => {
                push_narrow(buffer, &mut cache.all_latency, cells, |cell| {
                    cell.all.latency
                });
            }
            Measure::OwnLatency => {
                push_percents(buffer, &mut cache.own_latency, cells, |cell| {
                    cell.own.latency
                });
            }
            Measure::Own => push_percents(buffer, &mut cache.own, cells, |cell| cell.own.period),
            Measure::Samples => push_counts(buffer, cells, |cell| cell.own.samples),
            Measure::Period => push_counts(buffer, cells, |cell| cell.own.period),
            Measure::Mode(mode) => {
                push_percents(buffer, &mut cache.modes, extras, |extra| {
                    extra.modes[mode as usize]
                });
            }
            Measure::MeanWeight(nth) => push_means(buffer, cells, extras, usize::from(nth)),
            // Of a group the leading event stands for all branches.
            of_branches => push_passed(buffer, of_branches, extras.first()),
        }
    }

    /// Appends the value of a key.
    pub(super) fn key(
        &self,
        buffer: &mut Vec<u8>,
        key: SortKey,
        weighed: WeighedRow<'_>,
        slot: CellSlot,
    ) {
        let (row, names, width) = (weighed.row, &self.names, slot.width);
        match key {
            SortKey::Comm => push_cut(buffer, names.comm(row.comm), width),
            SortKey::CommNoDigit => push_cut(buffer, &without_digits(names.comm(row.comm)), width),
            SortKey::Dso => push_cut(buffer, names.dso(row.frame).unwrap_or("[unknown]"), width),
            SortKey::Symbol => code::symbol(names, buffer, row, slot.filled()),
            SortKey::SourceLine => {
                let [line, _] = names.sources_of(row.frame);
                push_padded(buffer, names.source(line), slot.filled());
            }
            SortKey::SourceFile => {
                let [_, file] = names.sources_of(row.frame);
                push_padded(buffer, names.source(file), slot.filled());
            }
            SortKey::Branch(key) => branches::cell(names, buffer, key, row, slot),
            SortKey::Access(key) => accesses::cell(names, buffer, key, row, slot),
            SortKey::Thread | SortKey::Process => code::task(names, buffer, key, row, width),
            SortKey::SymbolOffset => code::symbol_offset(names, buffer, row, width),
            key => {
                let bare = matches!(key, SortKey::DataTypeOffset | SortKey::DataTypeLine);
                let cell = details::DetailCell {
                    profile: names.profile,
                    row,
                    samples: weighed.cells.first().map_or(0, |cell| cell.own.samples),
                    width: if bare { slot.filled() } else { width },
                };
                cell.push(buffer, key, self.nanoseconds);
            }
        }
    }

    /// Appends one cell of a column of keys.
    pub(crate) fn key_cell(&self, buffer: &mut Vec<u8>, nth: usize, row: &Row, slot: CellSlot) {
        let Some(Column {
            field: Field::Key(key),
            ..
        }) = self.list.get(nth)
        else {
            return;
        };
        let start = buffer.len();
        let weightless = WeighedRow {
            row,
            cells: &[],
            extras: &[],
        };
        self.key(buffer, *key, weightless, slot);
        if let Some(separator) = self.separator.as_deref() {
            replace(buffer, start, separator);
        }
    }
}
