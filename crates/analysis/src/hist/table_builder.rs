//! Builds tables: from counted rows to rows in order, with their call graphs.

use oxperf_profile::Profile;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::callgraph::CallTree;
use super::count::Counted;
use super::counted_rows::CountedRows;
use super::hierarchy::hierarchy;
use super::order::Presorted;
use super::row_graphs::RowGraphs;
use super::row_order::RowOrder;
use super::rows::GroupIndex;
use super::table::{Row, Table};
use super::table_context::TableContext;
use super::{HistOptions, extra_sums, row_values};

/// The events of each table: every event with samples alone, or groups together at their first's place.
pub(crate) fn members(profile: &Profile, options: &HistOptions) -> Vec<Vec<usize>> {
    let group = options.group;
    let sampled = (0..profile.events.len())
        .filter(|&event| options.empty || !profile.events[event].is_empty());
    let leader = |event: usize| {
        let group = profile.events[event].group.as_ref().filter(|_| group);
        group.map_or(event, |group| group.leader)
    };
    let mut tables: Vec<Vec<usize>> = Vec::new();
    for event in sampled {
        match tables.iter_mut().find(|table| {
            table
                .first()
                .is_some_and(|&first| leader(first) == leader(event))
        }) {
            Some(table) => table.push(event),
            None => tables.push(vec![event]),
        }
    }
    tables
}

/// A table whose rows are not in order yet.
pub(crate) struct TableBuilder<'a> {
    context: TableContext<'a>,
    counted: Vec<Counted>,
    rows: CountedRows,
}

impl<'a> TableBuilder<'a> {
    /// Takes the rows of each of the table's events.
    pub(crate) fn new(context: TableContext<'a>, mut counted: Vec<Counted>) -> TableBuilder<'a> {
        let mut rows = CountedRows::take(&context, &mut counted);
        if context.options.extras {
            extra_sums::count(&context, &counted, &mut rows);
        }
        TableBuilder {
            context,
            counted,
            rows,
        }
    }

    /// The sample groups of the first event that ran in rows that can show a call graph.
    pub(crate) fn graphed(&self) -> Vec<GroupIndex> {
        self.graphs().groups()
    }

    /// Orders the rows and draws their call graphs.
    pub(crate) fn finish(self) -> Table {
        if !self.context.options.levels.is_empty() {
            return self.finish_hierarchy();
        }
        let row_order = RowOrder {
            context: self.context,
            rows: &self.rows,
        };
        // What is drawn and shown does not depend on the order, and perf's order takes one core its time.
        let sorted = row_order.usual();
        let order = || sorted.map_or_else(|| row_order.by_fields(), Presorted::settle);
        let graphs = self.graphs();
        let (order, (trees, rows)) =
            rayon::join(order, || rayon::join(|| graphs.trees(), || self.values()));
        Table {
            trees: in_order(trees, &order),
            grouped: self.context.is_grouped(),
            events: self.context.events.to_vec(),
            children: self.context.scope.children,
            order,
            rows,
            cells: self.rows.cells,
            extras: self.rows.extras,
            hierarchy: Vec::new(),
        }
    }

    /// Builds a hierarchy of rows: call graphs stand below its leaves.
    fn finish_hierarchy(self) -> Table {
        let entries = hierarchy(&self.context, &self.rows);
        let leaves = (0u32..).zip(&entries).filter(|(_, entry)| entry.at.leaf);
        let mut trees = self.graphs().trees();
        let trees = leaves
            .filter_map(|(index, entry)| Some((index, trees.remove(&entry.row)?)))
            .collect();
        let mut table = Table {
            grouped: self.context.is_grouped(),
            events: self.context.events.to_vec(),
            children: self.context.scope.children,
            trees,
            order: (0..entries.len() as u32).collect(),
            ..Table::default()
        };
        for entry in entries {
            let shown = &self.rows.list[entry.row as usize];
            table.rows.push(row_values::row(&self.context, shown));
            table.cells.extend(entry.cells);
            table.extras.extend(entry.extras);
            table.hierarchy.push(entry.at);
        }
        table
    }

    fn graphs(&self) -> RowGraphs<'_> {
        RowGraphs {
            context: self.context,
            rows: &self.rows,
            counted: self.counted.first(),
        }
    }

    fn values(&self) -> Vec<Row> {
        let rows = self.rows.list.par_iter();
        rows.map(|row| row_values::row(&self.context, row))
            .collect()
    }
}

/// The graphs of rows with the indices of these in order. The rows that show one are few, and mostly the first.
fn in_order(mut trees: FxHashMap<u32, CallTree>, order: &[u32]) -> Vec<(u32, CallTree)> {
    let mut list = Vec::with_capacity(trees.len());
    for (index, row) in (0..).zip(order) {
        if trees.is_empty() {
            break;
        }
        list.extend(trees.remove(row).map(|tree| (index, tree)));
    }
    list
}
