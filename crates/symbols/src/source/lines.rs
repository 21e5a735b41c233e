//! A unit's line table, as rows by address.

use std::sync::Arc;

use super::files::paths;
use super::{Dwarf, GimliUnit, SourceLine};
use crate::spans::Spans;

/// The rows of a unit, and the files that they name.
#[derive(Debug, Default)]
pub(super) struct Lines {
    files: Vec<Arc<str>>,
    rows: Vec<Row>,
    /// Stretches of code without a gap, by the index of their first row and the one behind the last.
    stretches: Spans<(u32, u32)>,
}

/// The code from an address to the next row's belongs to a line.
#[derive(Clone, Copy, Debug)]
struct Row {
    address: u64,
    file: u32,
    line: u32,
    column: u32,
}

impl Lines {
    /// Reads the line table of a unit; what is damaged ends it.
    pub(super) fn read<'a>(dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Lines {
        let Some(program) = unit.line_program.clone() else {
            return Lines::default();
        };
        let mut lines = Lines {
            files: paths(dwarf, unit, program.header()),
            ..Lines::default()
        };
        let mut stretches: Vec<(u64, u64, (u32, u32))> = Vec::new();
        let mut first = 0;
        let mut rows = program.rows();
        while let Ok(Some((_, row))) = rows.next_row() {
            let Ok(next) = u32::try_from(lines.rows.len()) else {
                break;
            };
            if row.end_sequence() {
                if let Some(start) = lines.rows.get(first as usize).map(|row| row.address) {
                    stretches.push((start, row.address(), (first, next)));
                }
                first = next;
                continue;
            }
            lines.add(row, first);
        }
        stretches.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
        lines.stretches = Spans::cut(stretches.into_iter());
        lines
    }

    /// Of several rows of one address the last holds. Addresses never go back within a stretch.
    fn add(&mut self, row: &gimli::LineRow, first: u32) {
        let new = Row {
            address: row.address(),
            file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
            line: row
                .line()
                .and_then(|line| u32::try_from(line.get()).ok())
                .unwrap_or(0),
            column: match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            },
        };
        let started = self.rows.len() > first as usize;
        match self.rows.last_mut().filter(|_| started) {
            Some(last) if last.address == new.address => *last = new,
            Some(last) if last.address > new.address => {}
            _ => self.rows.push(new),
        }
    }

    /// The line of an address.
    pub(super) fn find(&self, address: u64) -> Option<SourceLine> {
        let (first, end) = self.stretches.find(address)?;
        let rows = self.rows.get(first as usize..end as usize)?;
        let after = rows.partition_point(|row| row.address <= address);
        self.shown(rows.get(after.checked_sub(1)?)?)
    }

    fn shown(&self, row: &Row) -> Option<SourceLine> {
        Some(SourceLine {
            file: self.file(u64::from(row.file))?,
            line: row.line,
            column: row.column,
        })
    }

    /// The path of a file.
    pub(super) fn file(&self, index: u64) -> Option<Arc<str>> {
        self.files.get(usize::try_from(index).ok()?).cloned()
    }

    /// Every row as (first address, line), in the order of the table's stretches.
    pub(super) fn between(&self, start: u64, end: u64) -> Vec<(u64, SourceLine)> {
        let rows = self
            .rows
            .iter()
            .filter(|row| row.address >= start && row.address < end);
        rows.filter_map(|row| Some((row.address, self.shown(row)?)))
            .collect()
    }

    /// The addresses that the table covers.
    pub(super) fn ranges(&self) -> Vec<(u64, u64)> {
        self.stretches.ranges().collect()
    }
}
