//! The columns of a table: headings, widths, and which cell goes where.

mod accesses;
mod branches;
mod cells;
mod code;
mod details;
mod headings;
mod hierarchy;
mod kinds;
mod line;
mod names;
mod prefix_cache;
mod row;
mod widest;

use std::io::Write;

use oxperf_analysis::hist::{Cell, Field, Measure, Row, SortKey, Table};
use oxperf_profile::{FieldRequest, Profile};

use headings::heading;
use names::NameTexts;
use widest::Widest;

pub(crate) use headings::key_heading;
pub(super) use hierarchy::{LeveledRow, Levels};
pub(crate) use row::CellSlot;
pub(super) use row::WeighedRow;

use super::ReportText;
use super::percent::Percents;
use crate::text::padding::{Left, Right, first};

/// Width of one event's percentage.
const PERCENT_WIDTH: usize = 8;
/// Width of one event's number of samples, or of their periods.
const COUNT_WIDTH: usize = 12;
/// Width of an address with its level.
const ADDRESS_WIDTH: usize = "[k] 0x0000000000000000".len();
/// Least width of the objects where a row has no symbol.
const UNRESOLVED_DSO_WIDTH: usize = 16;
/// Width of a thread id and the colon behind it.
const ID_WIDTH: usize = 8;

struct Column<'a> {
    field: Field,
    heading: &'a str,
    width: usize,
    /// The width that the user asked for.
    requested_width: Option<usize>,
    /// The kinds of accesses to memory that have a place in the column, if it is one of these.
    kinds: Vec<usize>,
}

/// The columns of one table.
pub(crate) struct Columns<'a> {
    names: NameTexts<'a>,
    list: Vec<Column<'a>>,
    /// Number of the first columns whose texts are kept together.
    prefix_len: usize,
    separator: Option<String>,
    /// Percentages of each event.
    percents: Vec<Percents>,
    /// Percentages of the time that passed.
    latencies: Vec<Percents>,
    /// Rows count what was called from them.
    children: bool,
    /// Times have all their digits.
    nanoseconds: bool,
}

impl<'a> Columns<'a> {
    /// Lays the columns out so that every row fits.
    pub(super) fn new(profile: &'a Profile, table: &Table, text: &ReportText) -> Columns<'a> {
        let events = || table.events.iter().map(|&event| profile.events.get(event));
        let totals = events().map(|event| event.map_or(0, |event| event.period_total));
        let latencies = events().map(|event| event.map_or(0, |event| event.latency_total));
        let mut columns = Columns::empty(profile, text);
        // As in perf, what is for programs has no colours.
        let coloured = text.coloured && text.separator.is_none();
        let percents = |total: u64| Percents::new(total).coloured(coloured);
        columns.percents = totals.map(percents).collect();
        columns.latencies = latencies.map(percents).collect();
        columns.children = table.children;
        let events = table.events.len();
        let fields = columns.fields(table, text);
        let unresolved = unresolved_width(text);
        let widest = Widest::of(&columns.names, table.unordered_rows(), unresolved);
        let requested = text.widths.iter().copied().chain(std::iter::repeat(None));
        columns.list = fields
            .into_iter()
            .zip(requested)
            .map(|(field, requested)| {
                let mut column = columns.column(field, text.own_is_self, requested);
                columns.set_width(&mut column, table, &widest, events);
                column
            })
            .collect();
        columns.prefix_len = Columns::count_prefix(&columns.list);
        columns
    }

    /// A column as narrow as its heading.
    fn column(&self, field: Field, own_is_self: bool, requested: Option<usize>) -> Column<'a> {
        let heading = self.heading_of(field, own_is_self);
        Column {
            field,
            heading,
            width: heading.len(),
            requested_width: requested,
            kinds: Vec::new(),
        }
    }

    /// Makes a column as wide as its rows need, or as the user asked for.
    fn set_width(&self, column: &mut Column<'a>, table: &Table, widest: &Widest, events: usize) {
        if let Field::Measure(Measure::Kinds(kinds)) = column.field {
            column.kinds = kinds::met(table, kinds);
            column.width = kinds::width(column.kinds.len());
            column.requested_width = None;
            return;
        }
        let rows = table.unordered_rows();
        let fitting = self.width(column.field, widest, rows, events);
        column.width = match (column.field, column.requested_width) {
            (_, None) => fitting.max(column.heading.len()),
            (Field::Key(_), Some(requested)) => requested,
            (Field::Measure(measure), Some(requested)) => {
                requested.max(cell_width(measure) * events)
            }
        };
    }

    /// Takes percentages of other sums of periods.
    pub(super) fn weigh_in(&mut self, totals: &[u64]) {
        self.percents = totals.iter().map(|&total| Percents::new(total)).collect();
    }

    /// Names and numbers of cells, without any column yet.
    fn empty(profile: &'a Profile, text: &ReportText) -> Columns<'a> {
        Columns {
            names: NameTexts::new(profile, text),
            list: Vec::new(),
            prefix_len: 0,
            separator: text.separator.clone(),
            percents: Vec::new(),
            latencies: Vec::new(),
            children: false,
            nanoseconds: text.nanoseconds,
        }
    }

    /// The columns for rows of one profile without their weights.
    pub(crate) fn of_keys(profile: &'a Profile, rows: &[Row], text: &ReportText) -> Columns<'a> {
        let mut columns = Columns::empty(profile, text);
        let widest = Widest::of(&columns.names, rows, unresolved_width(text));
        let column = |&field: &Field| {
            let mut column = columns.column(field, false, None);
            let fitting = columns.width(field, &widest, rows, 1);
            column.width = fitting.max(column.heading.len());
            column
        };
        columns.list = text.columns.iter().map(column).collect();
        columns
    }

    /// The widths of the columns.
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.list.iter().map(|column| column.width)
    }

    /// The columns that the table has: fields of tracepoints are those of its events.
    fn fields(&self, table: &Table, text: &ReportText) -> Vec<Field> {
        let fields = &self.names.profile.details.fields;
        let is_there = |field: &Field| match field {
            Field::Key(SortKey::Field(number)) => fields
                .get(usize::from(*number))
                .is_some_and(|field| table.events.contains(&field.event)),
            _ => true,
        };
        text.columns.iter().copied().filter(is_there).collect()
    }

    fn heading_of(&self, field: Field, own_is_self: bool) -> &'a str {
        match field {
            Field::Key(SortKey::Field(number)) => {
                let fields: &'a [FieldRequest] = &self.names.profile.details.fields;
                fields
                    .get(usize::from(number))
                    .map_or("", |field| field.name.as_str())
            }
            _ => heading(field, own_is_self),
        }
    }

    /// The width that the rows need.
    fn width(&self, field: Field, widest: &Widest, rows: &[Row], events: usize) -> usize {
        match field {
            Field::Measure(Measure::ChildrenLatency) => PERCENT_WIDTH * events - 1,
            Field::Measure(measure) => cell_width(measure) * events,
            Field::Key(key) => match key {
                SortKey::Thread => ID_WIDTH + widest.comm,
                SortKey::Comm => widest.comm,
                SortKey::Dso => widest.dso,
                SortKey::Symbol => widest.symbol,
                SortKey::SourceLine => widest.source[0],
                SortKey::SourceFile => widest.source[1],
                SortKey::Branch(key) => widest.branch.of_key(key),
                SortKey::Access(key) => widest.access.of_key(key),
                key => details::width(self.names.profile, key, rows, self.nanoseconds),
            },
        }
    }

    /// The lines above the rows.
    pub(super) fn heading(&self, buffer: &mut Vec<u8>) {
        self.upper_heading(buffer, 0, self.list.iter());
        buffer.extend_from_slice(b"#");
        for (nth, column) in self.list.iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { self.between() });
            let (heading, width) = (column.heading, column.width);
            // Writing to a vector cannot fail.
            let _ = match column.field {
                Field::Measure(Measure::Kinds(kinds)) => {
                    write!(buffer, "{}", kinds::heading(kinds, &column.kinds))
                }
                Field::Key(key) if !details::is_field(key) => {
                    write!(buffer, "{}", Left(first(heading, width), width))
                }
                _ => write!(buffer, "{}", Right(first(heading, width), width)),
            };
        }
        if self.separator.is_some() {
            return buffer.push(b'\n');
        }
        buffer.extend_from_slice(b"\n#");
        for (nth, column) in self.list.iter().enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { b"  " });
            buffer.resize(buffer.len() + column.width, b'.');
        }
        buffer.extend_from_slice(b"\n#\n");
    }

    /// The text between two columns.
    fn between(&self) -> &[u8] {
        self.separator.as_deref().unwrap_or("  ").as_bytes()
    }

    /// The leading event's part of all samples, in hundredths, that decides whether the row is shown.
    pub(super) fn leader_percent(&self, cells: &[Cell]) -> f64 {
        cells
            .first()
            .zip(self.percents.first())
            .map_or(0.0, |(cell, percents)| percents.of(cell.all.period))
    }

    /// About the bytes of a row's line, no less where its names fit into their columns.
    pub(super) fn line_capacity(&self, row: &Row) -> usize {
        let beyond = self
            .names
            .symbol_name(row.frame)
            .map_or(ADDRESS_WIDTH, str::len);
        self.list
            .iter()
            .map(|column| column.width + self.between().len())
            .sum::<usize>()
            + beyond
    }
}

/// The least width of an object where a row has no symbol.
fn unresolved_width(text: &ReportText) -> usize {
    let resolved_only = text.narrow_objects || text.separator.is_some() || !text.widths.is_empty();
    if resolved_only {
        0
    } else {
        UNRESOLVED_DSO_WIDTH
    }
}

/// Width of one event's number.
fn cell_width(measure: Measure) -> usize {
    match measure {
        Measure::Samples | Measure::Period => COUNT_WIDTH,
        Measure::Predicted | Measure::Aborts | Measure::BranchCycles | Measure::Kinds(_) => 0,
        _ => PERCENT_WIDTH,
    }
}
