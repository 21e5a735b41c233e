//! The call graphs of a table's rows.

use oxperf_profile::percent;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::branch_histories::BranchHistories;
use super::callgraph::{CallGraphOptions, CallTree};
use super::contexts::Contexts;
use super::count::{Counted, Placed};
use super::counted_rows::{CountedRows, RowKey};
use super::graphs::{Gathered, may_draw, min_period};
use super::rows::GroupIndex;
use super::table_context::TableContext;

/// The rows that show call graphs. The graphs of a group of events are those of its first.
#[derive(Clone, Copy)]
pub(crate) struct RowGraphs<'a> {
    pub(crate) context: TableContext<'a>,
    pub(crate) rows: &'a CountedRows,
    /// The counts of the first event.
    pub(crate) counted: Option<&'a Counted>,
}

impl RowGraphs<'_> {
    /// The call graphs of the rows that show one, by row.
    pub(crate) fn trees(self) -> FxHashMap<u32, CallTree> {
        let (Some(options), Some(counted)) = (&self.context.options.call_graph, self.counted)
        else {
            return FxHashMap::default();
        };
        let drawn = self.drawn(options);
        if drawn.is_empty() {
            return FxHashMap::default();
        }
        let TableContext { shared, scope, .. } = self.context;
        let event = self.context.event(0);
        let limit = min_period(options, event);
        let wanted = drawn.iter().map(|&row| self.key(row));
        let contexts = Contexts::new(shared, event, &counted.groups);
        let gathered = Gathered::new(shared, event, &contexts, scope, wanted);
        let histories = BranchHistories::new(shared, event, counted, scope);
        let trees = drawn.par_iter().map(|&row| {
            let mut tree = gathered.tree(self.key(row), options, limit);
            histories.note(self.key(row), &mut tree);
            (row, tree)
        });
        trees.filter(|(_, tree)| !tree.is_empty()).collect()
    }

    /// The sample groups of the first event that ran in rows that can show a call graph.
    pub(crate) fn groups(self) -> Vec<GroupIndex> {
        let (Some(options), Some(counted)) = (&self.context.options.call_graph, self.counted)
        else {
            return Vec::new();
        };
        let drawn = self.drawn(options).into_iter().map(|row| self.key(row));
        let drawn: FxHashSet<RowKey> = drawn.collect();
        let locations = &self.context.shared.locations;
        let ran_there = |placed: &&Placed| {
            let own = locations.own(self.context.group(0, placed.group).frame);
            own.is_some_and(|own| drawn.contains(&(placed.task, own)))
        };
        let groups = counted.groups.iter().filter(ran_there);
        groups.map(|placed| placed.group).collect()
    }

    fn key(self, row: u32) -> RowKey {
        self.rows.list[row as usize].key()
    }

    /// The rows that can show a call graph.
    fn drawn(self, options: &CallGraphOptions) -> Vec<u32> {
        let event = self.context.event(0);
        let limit = min_period(options, event);
        let is_shown = |&row: &u32| {
            let all = self.rows.leader(row).all.period;
            may_draw(options, all, limit)
                && percent(all, event.period_total) >= self.context.options.min_percent
        };
        (0..self.rows.len() as u32).filter(is_shown).collect()
    }
}
