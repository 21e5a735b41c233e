//! A result as columns of text: numbers at the right, as wide as their cells and no wider than the terminal. Where there is no
//! terminal nothing is cut, and the widths of a long result are those of its first rows.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::error::ArrowError;
use oxperf_present::text::sanitize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::cells::formatter;

/// Spaces between columns.
const GAP: usize = 2;
/// No column is made narrower than this.
const NARROWEST: usize = 8;
/// No column is made wider than this for its widest cell: a name of a function may have thousands of letters.
const WIDEST: usize = 80;
/// Rows that are looked at before the widths are settled.
const LOOKED_AT: usize = 1 << 16;
/// Stands for what is cut.
const CUT: &str = "…";

/// A table of text.
#[derive(Debug)]
pub(super) struct TextTable {
    names: Vec<String>,
    /// Which columns stand at the right.
    is_number: Vec<bool>,
    /// Rows that are not written yet.
    rows: Vec<Vec<String>>,
    width: Option<usize>,
    /// The width of each column, once rows have been written.
    settled: Option<Vec<usize>>,
}

impl TextTable {
    /// No rows yet; `width` is that of a terminal.
    pub(super) fn new(schema: &Schema, width: Option<usize>) -> TextTable {
        let fields = schema.fields().iter();
        TextTable {
            names: fields
                .clone()
                .map(|field| sanitize(field.name()).into_owned())
                .collect(),
            is_number: fields.map(|field| is_number(field.data_type())).collect(),
            rows: Vec::new(),
            width,
            settled: None,
        }
    }

    /// `true` if rows are to be written before there are more of them.
    pub(super) fn is_full(&self) -> bool {
        self.width.is_none() && self.rows.len() > LOOKED_AT
    }

    /// Adds rows.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = batch
            .columns()
            .iter()
            .map(|column| formatter(column, "NULL"));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| {
                let text = column.value(row).to_string();
                sanitize(&text).into_owned()
            });
            self.rows.push(cells.collect());
        }
        Ok(())
    }

    /// Writes the rows so far, at first below the names.
    pub(super) fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        let names = self.settled.is_none().then_some(&self.names);
        let widths = self.settled.clone().unwrap_or_else(|| self.widths());
        for row in names.into_iter().chain(&self.rows) {
            let cells = row.iter().zip(&widths).zip(&self.is_number);
            let cells = cells.map(|((cell, width), is_number)| match self.width {
                None if cell.width() > *width => cell.clone(),
                _ => laid(cell, *width, *is_number),
            });
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            writeln!(out, "{}", line.trim_end())?;
        }
        self.rows.clear();
        self.settled = Some(widths);
        Ok(())
    }

    /// The width of each column: that of its widest cell, less where the terminal ends.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| name.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let gaps = GAP * widths.len().saturating_sub(1);
        let Some(room) = self.width.map(|width| width.saturating_sub(gaps)) else {
            widths
                .iter_mut()
                .for_each(|width| *width = (*width).min(WIDEST));
            return widths;
        };
        // Numbers are never cut; of the texts the widest are.
        while widths.iter().sum::<usize>() > room {
            let texts = widths
                .iter_mut()
                .zip(&self.is_number)
                .filter(|(_, is_number)| !**is_number);
            let Some((widest, _)) = texts.max_by_key(|(width, _)| **width) else {
                break;
            };
            if *widest <= NARROWEST {
                break;
            }
            *widest -= 1;
        }
        widths
    }
}

fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}

/// A cell in its column.
fn laid(cell: &str, width: usize, is_number: bool) -> String {
    let taken = cell.width();
    if taken > width {
        return cut(cell, width);
    }
    let gap = " ".repeat(width - taken);
    if is_number {
        gap + cell
    } else {
        cell.to_owned() + &gap
    }
}

fn cut(cell: &str, width: usize) -> String {
    let mut room = width.saturating_sub(CUT.width());
    let mut text = String::new();
    for letter in cell.chars() {
        let taken = letter.width().unwrap_or(0);
        if taken > room {
            break;
        }
        room -= taken;
        text.push(letter);
    }
    text + CUT + &" ".repeat(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: Option<usize>) -> String {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let mut table = TextTable {
            names: row(["symbol", "value"]),
            is_number: vec![false, true],
            rows: vec![
                row(["a_function_of_some_length", "7"]),
                row(["é", "12345678"]),
            ],
            width,
            settled: None,
        };
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_stand_at_the_right() {
        let expected = "symbol                        value\n\
                        a_function_of_some_length         7\n\
                        é                          12345678\n";
        assert_eq!(table(None), expected);
    }

    #[test]
    fn later_rows_stand_below_the_first_and_nothing_is_cut() {
        let long = "x".repeat(WIDEST + 9);
        let row = |symbol: &str| vec![symbol.to_owned(), "7".to_owned()];
        let mut table = TextTable {
            names: ["symbol", "value"].map(str::to_owned).to_vec(),
            is_number: vec![false, true],
            rows: vec![row("main")],
            width: None,
            settled: None,
        };
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        table.rows = vec![row(&long), row("f")];
        table.write(&mut text).unwrap();
        let expected = format!("symbol  value\nmain        7\n{long}      7\nf           7\n");
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn texts_are_cut_where_the_terminal_ends() {
        let expected = "symbol         value\na_functio…         7\né           12345678\n";
        assert_eq!(table(Some(20)), expected);
    }
}
