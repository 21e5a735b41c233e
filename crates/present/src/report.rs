//! The text of `report --stdio`: a table for each event, call graphs below their rows.
//!
//! The layout is perf 7.2's to the byte. Names from the recording are shown as [`crate::text::sanitize`] makes them.

mod blocks;
mod branch_kinds;
mod branch_steps;
pub(crate) mod columns;
mod csv;
mod graph;
mod json;
mod percent;
mod rows;
mod summary;
pub(crate) mod values;

use std::io::{self, Write};
use std::ops::Range;

use oxperf_analysis::hist::{Field, Measure, SortKey, Table};
use oxperf_profile::Profile;

use columns::{Columns, LeveledRow, Levels, WeighedRow};
use graph::GraphLabels;
pub(crate) use percent::colour_of;
pub(crate) use summary::with_unit;

use oxperf_ordered::write_in_order;

pub use blocks::blocks;
pub use branch_kinds::branch_kinds;
pub use csv::ReportCsv;
pub use graph::{GraphText, GraphValue};
pub use json::ReportDocument;
pub use rows::RowText;
pub use summary::{Restriction, prologue, restrictions, tip};

/// The columns and the look of tables.
#[derive(Clone, Debug, Default)]
pub struct ReportText {
    /// The columns.
    pub columns: Vec<Field>,
    /// Call what ran in rows themselves `Self`, beside what they called.
    pub own_is_self: bool,
    /// Show times with all their digits.
    pub nanoseconds: bool,
    /// Show before each symbol an address of the row, and a letter for where the object's names come from.
    pub addresses: bool,
    /// Rows count what their accesses to memory cost.
    pub by_cost: bool,
    /// The keys as the user wrote them, where they stand above the table.
    pub sort_order: Option<String>,
    /// The only socket whose samples are shown.
    pub socket: Option<u64>,
    /// The windows of time that the samples are of, as the user wrote them.
    pub times: Option<String>,
    /// The text between columns instead of blanks; columns are not filled up then.
    pub separator: Option<String>,
    /// Widths of the first columns; `None` leaves one as wide as it needs.
    pub widths: Vec<Option<usize>>,
    /// Objects of code without symbols need no more room than their names: as perf does it where objects are selected.
    pub narrow_objects: bool,
    /// Rows below this part of all samples, in hundredths, are left out.
    pub min_percent: f64,
    /// Show percentages in colours.
    pub coloured: bool,
    /// Say above the table that events without call chains borrow those of others.
    pub borrows_chains: bool,
    /// The columns of each level of a hierarchy, in their order; none for a plain table.
    pub levels: Vec<Vec<Field>>,
    /// Show rows alone, without what stands above them.
    pub quiet: bool,
    /// The drawing of call graphs; `None` draws none.
    pub graph: Option<GraphText>,
}

impl ReportText {
    /// The keys of the rows, as far as columns show them.
    pub fn keys(&self) -> impl Iterator<Item = SortKey> + '_ {
        self.columns.iter().filter_map(|column| match column {
            Field::Key(key) => Some(*key),
            Field::Measure(_) => None,
        })
    }

    /// These options with other keys, behind all measures.
    #[must_use]
    pub fn with_keys(mut self, keys: impl IntoIterator<Item = SortKey>) -> ReportText {
        self.columns
            .retain(|column| matches!(column, Field::Measure(_)));
        self.columns.extend(keys.into_iter().map(Field::Key));
        self
    }

    /// These options for tables that count what rows called, or do not.
    #[must_use]
    pub fn with_children(mut self, children: bool) -> ReportText {
        const ALL: Field = Field::Measure(Measure::Children);
        const LATENCY: Field = Field::Measure(Measure::ChildrenLatency);
        self.columns
            .retain(|column| ![ALL, LATENCY].contains(column));
        if children {
            let latency = self.columns.contains(&Field::Measure(Measure::OwnLatency));
            self.columns
                .splice(0..0, [ALL].into_iter().chain(latency.then_some(LATENCY)));
        }
        self.own_is_self = children;
        self
    }
}

/// Writes one table: what was sampled, the columns, the rows and two blank lines.
pub fn table(
    out: &mut dyn Write,
    profile: &Profile,
    table: &Table,
    text: &ReportText,
) -> io::Result<()> {
    let columns = Columns::new(profile, table, text);
    let writer = TableWriter {
        levels: (!text.levels.is_empty()).then(|| columns.levels(&text.levels)),
        columns,
        graphs: text
            .graph
            .as_ref()
            .map(|graph| GraphLabels::new(profile, table, graph, text.separator.as_deref())),
        table,
        min_percent: text.min_percent,
    };
    let mut heading = Vec::new();
    if !text.quiet {
        summary::heading(&mut heading, profile, table, text);
        match &writer.levels {
            Some(levels) => writer.columns.hierarchy_heading(&mut heading, levels),
            None => writer.columns.heading(&mut heading),
        }
    }
    out.write_all(&heading)?;
    write_in_order(out, table.len(), |rows, buffer| writer.rows(rows, buffer))?;
    out.write_all(b"\n\n")
}

struct TableWriter<'a> {
    columns: Columns<'a>,
    levels: Option<Levels>,
    graphs: Option<GraphLabels<'a>>,
    table: &'a Table,
    min_percent: f64,
}

/// Rows that are fetched together.
const TOGETHER: usize = 32;

impl TableWriter<'_> {
    /// True if any row is shown right below one of a hierarchy.
    fn shows_below(&self, head: usize, depth: usize) -> bool {
        let below = (head + 1..).zip(self.table.hierarchy().iter().skip(head + 1));
        let mut below = below.take_while(|(_, place)| place.depth > depth);
        below.any(|(row, place)| {
            place.depth == depth + 1
                && self.columns.leader_percent(self.table.cells(row)) >= self.min_percent
        })
    }

    fn rows(&self, range: Range<usize>, buffer: &mut Vec<u8>) {
        let mut cache = self.columns.row_cache();
        let trees = self.table.trees();
        let mut trees = trees[trees.partition_point(|(at, _)| (*at as usize) < range.start)..]
            .iter()
            .peekable();
        for index in range.clone() {
            if (index - range.start).is_multiple_of(TOGETHER) {
                self.reserve_lines(index..range.end.min(index + TOGETHER), buffer);
            }
            let Some(row) = self.table.row(index) else {
                continue;
            };
            let cells = self.table.cells(index);
            let tree = trees.next_if(|(at, _)| *at as usize == index);
            if self.columns.leader_percent(cells) < self.min_percent {
                continue;
            }
            let weighed = WeighedRow {
                row,
                cells,
                extras: self.table.extras(index),
            };
            match (&self.levels, self.table.hierarchy().get(index)) {
                (Some(levels), Some(&place)) => {
                    self.columns.hierarchy_row(
                        buffer,
                        &mut cache,
                        LeveledRow { weighed, place },
                        levels,
                    );
                    if !place.leaf
                        && self.min_percent > 0.0
                        && !self.shows_below(index, place.depth)
                    {
                        self.columns
                            .nothing_below(buffer, place, levels, self.min_percent);
                    }
                }
                _ => self.columns.row(buffer, &mut cache, weighed),
            }
            if let (Some((_, tree)), Some(graphs), Some(leader)) =
                (tree, &self.graphs, cells.first())
            {
                graphs.draw(buffer, tree, leader.all.period);
            }
        }
    }

    /// Reserves memory for the lines of some rows. Rows, and what they show, lie anywhere in memory; so none of them waits for
    /// another to be fetched.
    fn reserve_lines(&self, places: Range<usize>, buffer: &mut Vec<u8>) {
        let is_shown = |&place: &usize| {
            self.columns.leader_percent(self.table.cells(place)) >= self.min_percent
        };
        let rows = places
            .filter(is_shown)
            .filter_map(|place| self.table.row(place));
        buffer.reserve(rows.map(|row| self.columns.line_capacity(row)).sum());
    }
}
