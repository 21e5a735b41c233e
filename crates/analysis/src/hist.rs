//! Histograms: rows by sort keys, their weights with and without callers, and the call graphs of those that show one.
//!
//! The order of rows and branches is perf's as far as that is determined by the data.
//!
//! ```
//! use oxperf_analysis::hist::{HistOptions, histograms};
//! use oxperf_profile::{ChainOrder, Profile};
//! let tables = histograms(&Profile::default(), &HistOptions::default());
//! assert!(tables.is_empty());
//! ```

mod access_kinds;
mod accesses;
mod branch_histories;
mod branches;
mod callgraph;
mod callgraph_nodes;
mod cct;
mod columns;
mod contexts;
mod count;
mod counted_rows;
mod data_ranks;
mod extra_sums;
mod graphs;
mod hierarchy;
mod key;
mod level;
mod location;
mod measure;
mod order;
mod rank;
mod rbtree;
mod row_graphs;
mod row_order;
mod row_values;
mod rows;
mod table;
mod table_builder;
mod table_context;
mod task;
#[cfg(test)]
mod tests;

pub use access_kinds::{AccessKinds, PeriodsByKind};
pub use callgraph::{CallBranch, CallGraphOptions, CallTree, Shape};
pub use key::{AccessKey, BranchKey, SortKey};
pub use measure::{Field, Measure, PrivilegeMode};
pub use table::{Cell, Extra, HierarchyRow, Row, Table};
pub use task::without_digits;

use callgraph_nodes::GraphNodes;
use count::{Counted, Placed, Scope, Shared, by_task, count};
use location::Locations;
pub(crate) use order::{ByWeight, Presorted, Ranked, Rules};
use table_builder::TableBuilder;
use table_context::TableContext;
use task::Tasks;

use oxperf_profile::{ChainOrder, Profile};

/// What histograms are to hold.
#[derive(Clone, Debug)]
pub struct HistOptions {
    /// What tells rows apart.
    pub keys: Vec<SortKey>,
    /// What rows stand in order by, the first first; nothing for their weight and then the keys.
    pub order_by: Vec<Field>,
    /// Of the events of a group, the one whose weights count first in that order.
    pub order_by_event: usize,
    /// Count also what [`Extra`] holds.
    pub extras: bool,
    /// Count callers too, where the recording has call chains.
    pub children: bool,
    /// The direction in which chains are read; callers' rows hold the rest of the chain from them on.
    pub order: ChainOrder,
    /// The call graphs to draw; `None` draws none.
    pub call_graph: Option<CallGraphOptions>,
    /// Rows below this part of all samples, in hundredths, are not shown and need no call graph.
    pub min_percent: f64,
    /// Events of a group share a table.
    pub group: bool,
    /// Events without samples have a table, too.
    pub empty: bool,
    /// A hierarchy: rows stand below what they have in common: the keys of each level, all of them together those of
    /// [`HistOptions::keys`]. None for a plain table.
    pub levels: Vec<Vec<SortKey>>,
}

impl Default for HistOptions {
    fn default() -> Self {
        HistOptions {
            keys: SortKey::DEFAULT.to_vec(),
            order_by: Vec::new(),
            order_by_event: 0,
            extras: false,
            children: true,
            order: ChainOrder::Caller,
            call_graph: None,
            min_percent: 0.0,
            group: true,
            empty: false,
            levels: Vec::new(),
        }
    }
}

impl HistOptions {
    /// True if rows stand in order by weight and then by the keys, whatever the order goes on with.
    fn is_usual_order(&self) -> bool {
        let weights = [
            self.children.then_some(Measure::Children),
            Some(Measure::Own),
        ];
        let weights = weights.into_iter().flatten().map(Field::Measure);
        let usual: Vec<Field> = weights
            .chain(self.keys.iter().copied().map(Field::Key))
            .collect();
        self.order_by_event == 0 && (self.order_by.is_empty() || self.order_by.starts_with(&usual))
    }
}

/// A table for each event or group of events that has samples, in the recording's order.
pub fn histograms(profile: &Profile, options: &HistOptions) -> Vec<Table> {
    let chains = profile.events.iter().any(|event| event.has_callchains)
        || !profile.branch_histories.is_empty();
    let scope = Scope {
        children: options.children && chains,
        chains: chains && (options.children || options.call_graph.is_some()),
        order: options.order,
    };
    let by_address = options.call_graph.is_some_and(|graph| graph.by_address);
    let members = table_builder::members(profile, options);
    let ((locations, mut nodes), (tasks, groups)) = rayon::join(
        || {
            rayon::join(
                || Locations::new(profile, &options.keys, scope.chains),
                || {
                    if scope.chains {
                        GraphNodes::new(profile, by_address)
                    } else {
                        GraphNodes::none(profile)
                    }
                },
            )
        },
        || groups_by_task(profile, &options.keys, members.iter().flatten()),
    );
    nodes.locate(&locations);
    let shared = Shared {
        profile,
        locations,
        nodes,
        tasks,
    };
    let mut groups = groups.into_iter();
    let table = |events: Vec<usize>| {
        let groups = groups.by_ref().take(events.len()).collect();
        one_table(&shared, events, groups, options, scope)
    };
    members.into_iter().map(table).collect()
}

/// For each event, which of its sample groups belong to rows that show a call graph, given a profile without chains whose
/// rows count what ran in them alone.
pub fn graphed(profile: &Profile, options: &HistOptions) -> Vec<Vec<bool>> {
    let scope = Scope {
        children: false,
        chains: false,
        order: options.order,
    };
    let members = table_builder::members(profile, options);
    let locations = Locations::new(profile, &options.keys, false);
    let (tasks, groups) = groups_by_task(profile, &options.keys, members.iter().flatten());
    let shared = Shared {
        profile,
        locations,
        nodes: GraphNodes::none(profile),
        tasks,
    };
    let mut graphed: Vec<Vec<bool>> = profile
        .events
        .iter()
        .map(|event| vec![false; event.groups.len()])
        .collect();
    let mut groups = groups.into_iter();
    for events in members {
        let groups: Vec<Vec<Placed>> = groups.by_ref().take(events.len()).collect();
        let counted = counted(&shared, &events, groups, scope);
        let context = TableContext {
            shared: &shared,
            events: &events,
            options,
            scope,
        };
        // The call graphs of a group of events are those of its first.
        for group in TableBuilder::new(context, counted).graphed() {
            graphed[events[0]][group as usize] = true;
        }
    }
    graphed
}

/// The tasks of these events, and the groups of each event by task.
fn groups_by_task<'e>(
    profile: &Profile,
    keys: &[SortKey],
    events: impl Iterator<Item = &'e usize>,
) -> (Tasks, Vec<Vec<Placed>>) {
    let mut tasks = Tasks::new(profile, keys);
    let groups = events
        .map(|&event| by_task(&mut tasks, profile, &profile.events[event]))
        .collect();
    (tasks, groups)
}

fn one_table(
    shared: &Shared<'_>,
    events: Vec<usize>,
    groups: Vec<Vec<Placed>>,
    options: &HistOptions,
    scope: Scope,
) -> Table {
    let counted = counted(shared, &events, groups, scope);
    let context = TableContext {
        shared,
        events: &events,
        options,
        scope,
    };
    TableBuilder::new(context, counted).finish()
}

fn counted(
    shared: &Shared<'_>,
    events: &[usize],
    groups: Vec<Vec<Placed>>,
    scope: Scope,
) -> Vec<Counted> {
    let event = |event: usize| &shared.profile.events[event];
    events
        .iter()
        .zip(groups)
        .map(|(&at, groups)| count(shared, event(at), groups, scope))
        .collect()
}
