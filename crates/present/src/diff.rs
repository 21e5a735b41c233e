//! The text of `diff`: for each event a table of rows with a baseline and what became of it.
//!
//! The layout is perf 7.2's to the byte. Names from the recordings are shown as [`crate::text::sanitize`] makes them.

mod json;
mod numbers;
mod streams;
mod stretches;

use std::io::{self, Write};

use oxperf_analysis::diff::{DiffTable, Method, Side};
use oxperf_analysis::hist::{Field, Row, SortKey};
use oxperf_ordered::write_in_order;

use crate::report::ReportText;
use crate::report::columns::{CellSlot, Columns, key_heading};
use crate::text::padding::{Left, Right};
use crate::text::sanitize;

pub use json::DiffDocument;
pub use streams::{StreamSide, streams};

use numbers::{Number, NumberColumn};
use stretches::Stretches;

/// The columns and the look of tables.
#[derive(Clone, Debug)]
pub struct DiffText {
    /// The measure of changes.
    pub method: Method,
    /// The keys that have a column.
    pub keys: Vec<SortKey>,
    /// Show the periods themselves, too.
    pub periods: bool,
    /// Show how each change comes about.
    pub formula: bool,
    /// Show how the changes of stretches of code scatter; needs [`Method::Cycles`].
    pub scatter: bool,
    /// The text between columns instead of blanks.
    pub separator: Option<String>,
    /// Rows alone, without headings.
    pub quiet: bool,
    /// Show before each symbol an address of the row, and a letter for where the object's names come from.
    pub addresses: bool,
    /// The recordings' files, the baseline first.
    pub files: Vec<String>,
}

/// One event of all recordings.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The event's name in the baseline.
    pub event: &'a str,
    /// The recordings, the baseline first.
    pub sides: &'a [Side<'a>],
    /// Their rows.
    pub table: &'a DiffTable,
}

/// Writes the table of one event; `first` is the first of the text.
pub fn table(
    out: &mut dyn Write,
    compared: &Compared<'_>,
    text: &DiffText,
    first: bool,
) -> io::Result<()> {
    let columns = text.keys.iter().copied().map(Field::Key).collect();
    let (separator, addresses) = (text.separator.clone(), text.addresses);
    let report = ReportText {
        columns,
        separator,
        addresses,
        ..ReportText::default()
    };
    let layout = Layout::new(compared, text, &report);
    if !text.quiet {
        let mut heading = Vec::new();
        event_heading(&mut heading, compared.event, text, first);
        layout.heading(&mut heading);
        out.write_all(&heading)?;
    }
    write_in_order(out, compared.table.rows().len(), |rows, buffer| {
        rows.for_each(|row| layout.row(buffer, row));
    })
}

fn event_heading(buffer: &mut Vec<u8>, event: &str, text: &DiffText, first: bool) {
    let before = if first { "" } else { "\n" };
    // Writing to a vector cannot fail.
    let _ = write!(buffer, "{before}# Event '{}'\n#\n", sanitize(event));
    if text.files.len() > 2 {
        let _ = writeln!(buffer, "# Data files:");
        for (nth, file) in text.files.iter().enumerate() {
            let _ = writeln!(
                buffer,
                "#  [{nth}] {} {}",
                sanitize(file),
                if nth == 0 { "(Baseline)" } else { "" }
            );
        }
        let _ = writeln!(buffer, "#");
    }
}

/// The columns of a table: numbers, then keys.
struct Layout<'a> {
    compared: &'a Compared<'a>,
    numbers: Vec<NumberColumn>,
    /// The cells of keys, one for each side.
    sides: Vec<Columns<'a>>,
    keys: Vec<(SortKey, usize)>,
    separator: Option<&'a str>,
    /// Each stretch of a row's function has a line.
    by_stretch: bool,
}

impl<'a> Layout<'a> {
    fn new(compared: &'a Compared<'a>, text: &'a DiffText, report: &'a ReportText) -> Layout<'a> {
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); compared.sides.len()];
        for shown in compared.table.rows() {
            let row = compared.sides[shown.side]
                .table
                .and_then(|table| table.row(shown.row));
            rows[shown.side].extend(row);
        }
        let sides = compared.sides.iter().zip(&rows);
        let sides: Vec<Columns<'a>> = sides
            .map(|(side, rows)| Columns::of_keys(side.profile, rows, report))
            .collect();
        let keys = text.keys.iter().enumerate().map(|(nth, &key)| {
            let widths = sides.iter().filter_map(|side| side.widths().nth(nth));
            (key, widths.max().unwrap_or(0).max(key_heading(key).len()))
        });
        let keys = keys.collect();
        let separator = text.separator.as_deref();
        let by_stretch = text.method == Method::Cycles;
        Layout {
            compared,
            numbers: numbers::columns(text),
            sides,
            keys,
            separator,
            by_stretch,
        }
    }

    fn heading(&self, buffer: &mut Vec<u8>) {
        let numbers = self
            .numbers
            .iter()
            .map(|column| (column.heading.as_str(), column.width, true));
        let keys = self
            .keys
            .iter()
            .map(|&(key, width)| (key_heading(key), width, false));
        buffer.push(b'#');
        for (nth, (heading, width, right)) in numbers.chain(keys).enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { self.between() });
            // Writing to a vector cannot fail.
            let _ = match right {
                true => write!(buffer, "{}", Right(heading, width)),
                false => write!(buffer, "{}", Left(heading, width)),
            };
        }
        buffer.push(b'\n');
        if self.separator.is_some() {
            return;
        }
        let widths = self
            .numbers
            .iter()
            .map(|column| column.width)
            .chain(self.keys.iter().map(|key| key.1));
        buffer.push(b'#');
        for (nth, width) in widths.enumerate() {
            buffer.extend_from_slice(if nth == 0 { b" " } else { b"  " });
            buffer.resize(buffer.len() + width, b'.');
        }
        buffer.extend_from_slice(b"\n#\n");
    }

    fn between(&self) -> &[u8] {
        self.separator.unwrap_or("  ").as_bytes()
    }

    fn row(&self, buffer: &mut Vec<u8>, row: usize) {
        if self.by_stretch {
            let stretches = Stretches::of(self.compared, row);
            (0..stretches.lines())
                .for_each(|line| self.line(buffer, row, Some((&stretches, line))));
        } else {
            self.line(buffer, row, None);
        }
    }

    fn line(&self, buffer: &mut Vec<u8>, row: usize, stretch: Option<(&Stretches<'_>, usize)>) {
        let mut first = self.separator.is_some();
        for column in &self.numbers {
            if !std::mem::take(&mut first) {
                buffer.extend_from_slice(self.between());
            }
            self.number(buffer, column, row, stretch);
        }
        let Some(&shown) = self.compared.table.rows().get(row) else {
            return;
        };
        let table = self.compared.sides[shown.side].table;
        let Some(shown_row) = table.and_then(|table| table.row(shown.row)) else {
            return;
        };
        for (nth, &(_, width)) in self.keys.iter().enumerate() {
            buffer.extend_from_slice(self.between());
            let last = nth + 1 == self.keys.len();
            self.sides[shown.side].key_cell(buffer, nth, shown_row, CellSlot { width, last });
        }
        buffer.push(b'\n');
    }

    fn number(
        &self,
        buffer: &mut Vec<u8>,
        column: &NumberColumn,
        row: usize,
        stretch: Option<(&Stretches<'_>, usize)>,
    ) {
        let start = buffer.len();
        let number = match stretch.and_then(|(stretches, line)| column.of_stretch(stretches, line))
        {
            Some(number) => number,
            None => Number::of(self.compared.table, column, row),
        };
        match self.separator {
            Some(_) => number.plain(buffer),
            None => number.aligned(buffer, column),
        }
        if buffer.len() < start + column.width {
            buffer.resize(start + column.width, b' ');
        }
    }
}
