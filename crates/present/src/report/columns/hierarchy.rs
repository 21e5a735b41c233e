//! The lines of a hierarchy: weights to the left, moved to the right by depth, and one level's keys behind them.

use oxperf_analysis::hist::{AccessKey, BranchKey, Field, HierarchyRow, Measure, SortKey};

use super::cells::{fill, replace, spread};
use super::kinds::{heading as kind_names, kinds_of};
use super::row::{CellSlot, RowCache, WeighedRow};
use super::{Column, Columns};

/// Columns by which a level stands to the right of the one above it.
const INDENT: usize = 3;

/// The most dots below the names of the levels.
const MAX_DOTS: usize = 207;

/// A row of a hierarchy.
#[derive(Clone, Copy)]
pub(in crate::report) struct LeveledRow<'a> {
    /// The row with its weights.
    pub(in crate::report) weighed: WeighedRow<'a>,
    /// Its level.
    pub(in crate::report) place: HierarchyRow,
}

/// The columns of a hierarchy, as numbers of the table's.
pub(in crate::report) struct Levels {
    /// Those of every row.
    leading: Vec<usize>,
    /// Those of the rows of each level.
    keys: Vec<Vec<usize>>,
}

impl Columns<'_> {
    /// The columns of each level.
    pub(in crate::report) fn levels(&self, levels: &[Vec<Field>]) -> Levels {
        let place = |field: &Field| self.list.iter().position(|column| column.field == *field);
        let keys: Vec<Vec<usize>> = levels
            .iter()
            .map(|level| level.iter().filter_map(place).collect())
            .collect();
        let keys: Vec<Vec<usize>> = keys.into_iter().filter(|level| !level.is_empty()).collect();
        let leading =
            (0..self.list.len()).filter(|nth| !keys.iter().flatten().any(|key| key == nth));
        Levels {
            leading: leading.collect(),
            keys,
        }
    }

    /// Appends the lines above the rows.
    pub(in crate::report) fn hierarchy_heading(&self, buffer: &mut Vec<u8>, levels: &Levels) {
        let margin = if self.separator.is_some() {
            0
        } else {
            levels.margin()
        };
        self.upper_heading(buffer, margin, self.leading(levels));
        buffer.extend_from_slice(b"# ");
        buffer.resize(buffer.len() + margin, b' ');
        for (nth, column) in self.leading(levels).enumerate() {
            buffer.extend_from_slice(if nth == 0 { b"" } else { self.between() });
            let start = buffer.len();
            match kinds_of(column) {
                Some(kinds) => {
                    buffer.extend_from_slice(kind_names(kinds, &column.kinds).as_bytes())
                }
                None => buffer.extend_from_slice(column.heading.as_bytes()),
            }
            fill(buffer, start, column.width);
        }
        let title = self.title_of_levels(levels);
        buffer.extend_from_slice(self.between());
        buffer.extend_from_slice(title.as_bytes());
        buffer.extend_from_slice(b"\n# ");
        buffer.resize(buffer.len() + margin, b'.');
        for (nth, column) in self.leading(levels).enumerate() {
            let between = self.separator.as_deref().unwrap_or("..").as_bytes();
            buffer.extend_from_slice(if nth == 0 { b"" } else { between });
            buffer.resize(buffer.len() + column.width, b'.');
        }
        let dots = self.width_of_levels(levels).max(title.len()).min(MAX_DOTS);
        buffer.extend_from_slice(self.between());
        buffer.resize(buffer.len() + dots, b'.');
        buffer.extend_from_slice(b"\n#\n");
    }

    /// The columns of every row.
    fn leading<'l>(&'l self, levels: &'l Levels) -> impl Iterator<Item = &'l Column<'l>> + Clone {
        levels.leading.iter().map(|&nth| &self.list[nth])
    }

    /// The headings of all levels: `Command / Shared Object+Symbol`.
    fn title_of_levels(&self, levels: &Levels) -> String {
        let headings = |level: &Vec<usize>| {
            let headings = level.iter().map(|&nth| self.list[nth].heading.trim());
            headings.collect::<Vec<_>>().join("+")
        };
        let levels = levels.keys.iter().map(headings);
        levels.collect::<Vec<_>>().join(" / ")
    }

    /// The width of the widest level, with its indent.
    fn width_of_levels(&self, levels: &Levels) -> usize {
        let mut widest = 0;
        for (depth, level) in levels.keys.iter().enumerate() {
            let widths = level.iter().map(|&nth| self.list[nth].width + "+".len());
            let keys: usize = widths.sum();
            widest = widest.max((depth * INDENT + keys).saturating_sub("+".len()));
        }
        widest
    }

    /// A row's line.
    pub(in crate::report) fn hierarchy_row(
        &self,
        buffer: &mut Vec<u8>,
        cache: &mut RowCache,
        row: LeveledRow<'_>,
        levels: &Levels,
    ) {
        let LeveledRow { weighed, place } = row;
        buffer.resize(buffer.len() + place.depth * INDENT, b' ');
        for (nth, column) in self.leading(levels).enumerate() {
            if nth > 0 || self.separator.is_none() {
                buffer.extend_from_slice(self.between());
            }
            let start = buffer.len();
            self.hierarchy_cell(buffer, cache, column, weighed);
            match self.separator {
                _ if kinds_of(column).is_some() => {}
                Some(_) => spread(buffer, start, 0, column.width),
                None => fill(buffer, start, column.width),
            }
        }
        if self.separator.is_none() {
            buffer.resize(buffer.len() + levels.margin(), b' ');
        }
        for column in levels
            .keys
            .get(place.depth)
            .into_iter()
            .flatten()
            .map(|&nth| &self.list[nth])
        {
            buffer.extend_from_slice(self.between());
            let start = buffer.len();
            self.hierarchy_cell(buffer, cache, column, weighed);
            let blanks = buffer[start..]
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
            buffer.drain(start..start + blanks);
            if let (Field::Key(_), Some(separator)) = (column.field, self.separator.as_deref()) {
                replace(buffer, start, separator);
            }
        }
        buffer.push(b'\n');
    }

    fn hierarchy_cell(
        &self,
        buffer: &mut Vec<u8>,
        cache: &mut RowCache,
        column: &Column<'_>,
        row: WeighedRow<'_>,
    ) {
        match column.field {
            Field::Measure(Measure::Kinds(kinds)) => {
                self.kinds_cell(buffer, kinds, row.extras.first(), &column.kinds);
            }
            Field::Measure(measure) => self.measure(buffer, cache, measure, row),
            Field::Key(key) => {
                // Symbols alone are not filled up by themselves.
                let bare = matches!(
                    key,
                    SortKey::Symbol
                        | SortKey::Branch(BranchKey::SymbolFrom | BranchKey::SymbolTo)
                        | SortKey::Access(
                            AccessKey::DataSymbol | AccessKey::CodeSymbol | AccessKey::Line
                        )
                );
                let slot = CellSlot {
                    width: column.width,
                    last: bare,
                };
                self.key(buffer, key, row, slot);
            }
        }
    }

    /// The line below a row of which the limit hides everything.
    pub(in crate::report) fn nothing_below(
        &self,
        buffer: &mut Vec<u8>,
        place: HierarchyRow,
        levels: &Levels,
        limit: f64,
    ) {
        if self.separator.is_none() {
            buffer.resize(
                buffer.len() + (levels.keys.len() + place.depth) * INDENT,
                b' ',
            );
        }
        let leading: usize = levels
            .leading
            .iter()
            .map(|&nth| self.list[nth].width + 2)
            .sum();
        buffer.resize(buffer.len() + leading + 2, b' ');
        buffer.extend_from_slice(format!("no entry >= {limit:.2}%\n").as_bytes());
    }
}

impl Levels {
    /// The room that deeper levels need before the keys.
    fn margin(&self) -> usize {
        self.keys.len().saturating_sub(1) * INDENT
    }
}
