//! Hierarchies: the rows of a table below what they have in common, level by level.
//!
//! A level is some of the keys. A row of it stands for all rows that agree in these keys and in those of the levels above.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::columns::Columns;
use super::counted_rows::CountedRows;
use super::key::SortKey;
use super::measure::{Field, Measure};
use super::table::{Cell, Extra, HierarchyRow};
use super::table_context::TableContext;
use oxperf_profile::SampleTotals;

/// One row of a hierarchy on its way into the table.
pub(super) struct Entry {
    pub(super) at: HierarchyRow,
    /// The counted row that it shows the keys of.
    pub(super) row: u32,
    pub(super) cells: Vec<Cell>,
    pub(super) extras: Vec<Extra>,
}

/// The keys of a level.
struct Level {
    /// For each key and row the rank among the rows as found, and as shown.
    found: Vec<Vec<u64>>,
    shown: Vec<Vec<u64>>,
}

impl Level {
    fn new(context: &TableContext<'_>, rows: &CountedRows, keys: &[SortKey]) -> Level {
        let (shared, all) = (context.shared, &context.options.keys);
        let ranks = |key: &SortKey| {
            let columns = Columns::of_key(*key, all, &shared.tasks, &shared.locations);
            columns.ranks(rows.keys())
        };
        let (shown, found) = keys
            .iter()
            .map(ranks)
            .map(|ranks| (ranks.shown, ranks.found))
            .unzip();
        Level { found, shown }
    }

    fn identity(&self, row: u32) -> Vec<u64> {
        self.found
            .iter()
            .map(|places| places[row as usize])
            .collect()
    }
}

/// The hierarchy of a table's rows, in order.
pub(super) fn hierarchy(context: &TableContext<'_>, rows: &CountedRows) -> Vec<Entry> {
    let keys = context
        .options
        .levels
        .iter()
        .map(|keys| keys.iter().copied().filter(|key| context.has(*key)));
    let keys = keys
        .map(Iterator::collect)
        .filter(|keys: &Vec<SortKey>| !keys.is_empty());
    let levels: Vec<Level> = keys.map(|keys| Level::new(context, rows, &keys)).collect();
    let columns = Columns::new(
        &context.options.keys,
        &context.shared.tasks,
        &context.shared.locations,
    );
    let found = columns.ranks(rows.keys()).found;
    let building = HierarchyBuilder {
        context,
        rows,
        levels,
        found,
    };
    let mut entries = Vec::new();
    building.level((0..rows.len() as u32).collect(), 0, &mut entries);
    entries
}

struct HierarchyBuilder<'a> {
    context: &'a TableContext<'a>,
    rows: &'a CountedRows,
    levels: Vec<Level>,
    /// The ranks of the rows among all.
    found: Vec<u64>,
}

impl HierarchyBuilder<'_> {
    /// Appends the rows that stand for some from a level on.
    fn level(&self, rows: Vec<u32>, depth: usize, entries: &mut Vec<Entry>) {
        let Some(level) = self.levels.get(depth) else {
            return;
        };
        let mut known: FxHashMap<Vec<u64>, usize> = FxHashMap::default();
        let mut parts: Vec<Vec<u32>> = Vec::new();
        for row in rows {
            let next = parts.len();
            let part = *known.entry(level.identity(row)).or_insert(next);
            if part == next {
                parts.push(Vec::new());
            }
            parts[part].push(row);
        }
        let mut heads: Vec<(Entry, Vec<u32>)> = parts
            .into_iter()
            .filter_map(|rows| Some((self.head(&rows, depth)?, rows)))
            .collect();
        heads.sort_by(|(a, _), (b, _)| self.compare(a, b, depth));
        for (entry, rows) in heads {
            let leaf = entry.at.leaf;
            entries.push(entry);
            if !leaf {
                self.level(rows, depth + 1, entries);
            }
        }
    }

    /// The row that stands for rows.
    fn head(&self, rows: &[u32], depth: usize) -> Option<Entry> {
        let row = *rows.iter().min_by_key(|row| self.found[**row as usize])?;
        let mut cells = vec![Cell::default(); self.context.events.len()];
        let mut extras = vec![Extra::default(); self.rows.extras(row).len()];
        for &row in rows {
            cells
                .iter_mut()
                .zip(self.rows.cells(row))
                .for_each(|(sum, cell)| sum.own += cell.own);
            extras
                .iter_mut()
                .zip(self.rows.extras(row))
                .for_each(|(sum, extra)| sum.add(extra));
        }
        if self.context.scope.children {
            self.count_callees(rows, &mut cells);
        } else {
            cells.iter_mut().for_each(|sum| sum.all = sum.own);
        }
        let at = HierarchyRow {
            depth,
            leaf: depth + 1 == self.levels.len(),
        };
        Some(Entry {
            at,
            row,
            cells,
            extras,
        })
    }

    /// Counts callees for a row that stands for others. As perf has it, they are what the first of them that the event
    /// has ran itself. A leading event that has none borrows what the first other event ran in all of them.
    fn count_callees(&self, rows: &[u32], sums: &mut [Cell]) {
        let cell =
            |row: u32, event: usize| self.rows.cells(row).get(event).copied().unwrap_or_default();
        let first = |event: usize| {
            let counted = rows
                .iter()
                .copied()
                .filter(|&row| cell(row, event).is_counted());
            counted.min_by_key(|row| self.found[*row as usize])
        };
        let firsts: Vec<Option<u32>> = (0..sums.len()).map(first).collect();
        for ((event, sum), first) in sums.iter_mut().enumerate().zip(&firsts) {
            sum.all = first.map_or(SampleTotals::default(), |row| cell(row, event).own);
        }
        if let Some(None) = firsts.first()
            && let Some(lender) = firsts.iter().position(Option::is_some)
        {
            sums[0].all = sums[lender].own;
        }
    }

    /// Rows of a level stand by weight, then by its keys, and by those of the rows that they show.
    fn compare(&self, a: &Entry, b: &Entry, depth: usize) -> Ordering {
        let weights = self
            .context
            .options
            .order_by
            .iter()
            .map_while(|field| match field {
                Field::Measure(measure) => Some(*measure),
                Field::Key(_) => None,
            });
        let usual = [Measure::Children, Measure::Own];
        let usual = usual
            .into_iter()
            .filter(|_| self.context.options.order_by.is_empty());
        let heavier = |measure: Measure| {
            let of = |entry: &Entry| -> Vec<u64> {
                let ranked = entry.cells.iter().enumerate();
                let extra = |nth: usize| entry.extras.get(nth).cloned().unwrap_or_default();
                let ranks = ranked.map(|(nth, cell)| measure.rank(cell, &extra(nth)));
                ranks
                    .take(if measure == Measure::Children {
                        1
                    } else {
                        usize::MAX
                    })
                    .collect()
            };
            of(b).cmp(&of(a))
        };
        let by_weight = weights
            .chain(usual)
            .map(heavier)
            .find(|order| order.is_ne());
        let keys = || self.levels[depth..].iter().flat_map(|level| &level.shown);
        let shown = |row: u32| keys().map(move |places| places[row as usize]);
        by_weight
            .unwrap_or(Ordering::Equal)
            .then_with(|| shown(a.row).cmp(shown(b.row)))
            .then_with(|| self.found[a.row as usize].cmp(&self.found[b.row as usize]))
    }
}
