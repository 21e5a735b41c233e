//! The table of one recording: the options of tables, with the names of its columns looked up.

use oxperf_abi::{AttrFlags, SampleType};
use oxperf_analysis::hist::{BranchKey, Field, HistOptions, Shape, SortKey};
use oxperf_collect::{BlockDetail, CollectOptions};
use oxperf_data::{Container, EventEntry, Reader};
use oxperf_present::report::ReportText;
use oxperf_profile::{ChainOrder, Detail, DetailOptions, Profile};
use oxperf_tracepoint::Formatters;

use super::call_graph::{CallGraphSpec, Line};
use super::count_mode::{self, CountMode};
use super::cycles;
use super::fields::{FieldContext, Fields, LatencyUse};
use super::options::TableOptions;
use crate::failure::Failure;
use crate::separator;

const NO_LATENCY: &str =
    "Error:\nUse of latency profile or parallelism requires --latency flag during record.";

/// A table of one recording.
#[derive(Debug)]
pub(super) struct TablePlan<'o> {
    options: &'o TableOptions,
    /// Columns and order.
    fields: Fields,
    counted: CountMode,
    /// The recording comes as a stream: of one perf does not count what a function called as its own, but reads its chains
    /// as if it did.
    stream: bool,
    /// Code between branches is shown in the place of tables.
    total_cycles: bool,
    /// The keys as the lines above the table name them.
    sort_order: Option<String>,
    collect: CollectOptions,
}

/// Chains are read from the outside in where callers are counted, too, unless it was said otherwise.
pub(super) fn chain_order(call_graph: &CallGraphSpec, children: bool) -> ChainOrder {
    call_graph.order.unwrap_or(if children {
        ChainOrder::Caller
    } else {
        ChainOrder::Callee
    })
}

fn names_source_line(key: &SortKey) -> bool {
    let lines = [SortKey::SourceLine, SortKey::SourceFile];
    lines.contains(key)
        || matches!(
            key,
            SortKey::Branch(BranchKey::LineFrom | BranchKey::LineTo)
        )
}

impl<'o> TablePlan<'o> {
    /// Looks up the columns' names among those of the recording and what is counted of it.
    ///
    /// # Errors
    ///
    /// A name that is not known, and a column that the recording cannot fill.
    pub(super) fn new(
        options: &'o TableOptions,
        reader: &Reader<'_>,
        formats: &Formatters,
        counted: CountMode,
    ) -> Result<TablePlan<'o>, Failure> {
        let events = reader.events();
        let event_names: Vec<String> = events
            .iter()
            .map(|event| event.name.clone().unwrap_or_default())
            .collect();
        let context = FieldContext {
            events,
            event_names: &event_names,
            formats,
            counted,
            history: options.collect.history,
            raw_traces: options.raw_traces,
        };
        let total_cycles = options.total_cycles && counted == CountMode::Branches;
        let columns = if total_cycles {
            options.columns.clone().without_keys()
        } else {
            options.columns.clone()
        };
        let fields = columns.resolve(&context)?;
        let switches =
            |event: &EventEntry| event.stored.attr.flags.contains(AttrFlags::CONTEXT_SWITCH);
        if (fields.wants_latency() || options.parallelism) && !events.iter().any(switches) {
            return Err(Failure::new(NO_LATENCY));
        }
        let mut plan = TablePlan {
            options,
            fields,
            counted,
            stream: reader.container() == Container::Stream,
            total_cycles,
            sort_order: columns
                .sort_order()
                .filter(|_| counted == CountMode::Accesses),
            collect: options.collect,
        };
        plan.collect_for_columns(events);
        Ok(plan)
    }

    /// Collects what the columns need.
    fn collect_for_columns(&mut self, events: &[EventEntry]) {
        let options = self.options;
        let keys = self.fields.keys();
        let by_address = options.call_graph.line == Line::Address;
        let lines = options.call_graph.line != Line::Function || keys.iter().any(names_source_line);
        let blocks = self.total_cycles || self.wants_paces();
        let collect = &mut self.collect;
        collect.addresses_apart =
            options.verbose || by_address || keys.iter().any(|key| key.by_address());
        collect.map_sizes = keys.contains(&SortKey::DsoSize);
        collect.by_cost = self.counted == CountMode::Accesses;
        collect.branches = (self.counted == CountMode::Branches)
            .then(|| count_mode::detail(&keys, options.verbose));
        collect.blocks = blocks.then(|| BlockDetail {
            consecutive: cycles::are_consecutive(events),
            lines: self.total_cycles.then_some(options.line_text),
        });
        collect.lines = lines.then_some(options.line_text);
    }

    /// Samples into a profile, with what the columns need.
    pub(super) fn collect(&self) -> &CollectOptions {
        &self.collect
    }

    /// True if a column is about the types of data.
    pub(super) fn wants_types(&self) -> bool {
        self.fields.keys().into_iter().any(SortKey::is_of_types)
    }

    /// True if the code between branches is shown in the place of tables.
    pub(super) fn shows_blocks(&self) -> bool {
        self.total_cycles
    }

    /// True if a column shows threads or processes.
    pub(super) fn shows_threads(&self) -> bool {
        let keys = self.fields.keys();
        [SortKey::Thread, SortKey::Process]
            .iter()
            .any(|key| keys.contains(key))
    }

    /// True if a column shows how fast functions ran.
    pub(super) fn wants_paces(&self) -> bool {
        self.fields.keys().contains(&SortKey::Ipc)
    }

    /// The details of samples beside their thread and address, and `more` of them that filters need.
    pub(super) fn details(&self, reader: &Reader<'_>, more: &[Detail]) -> DetailOptions {
        let mut wanted = DetailOptions {
            sockets: oxperf_query::sockets(reader),
            time_quantum: self.options.time_quantum,
            raw_traces: self.options.raw_traces,
            ..self.fields.details()
        };
        for detail in more {
            if !wanted.details.contains(detail) {
                wanted.details.push(*detail);
            }
        }
        wanted
    }

    /// True if columns were to be separated by points, which stand within their numbers.
    pub(super) fn separates_by_points(&self) -> bool {
        separator::is_refused(self.options.text.separator.as_deref())
    }

    /// True if a call graph was asked for that the recording cannot give.
    pub(super) fn misses_chains(&self, events: &[EventEntry]) -> bool {
        let carries = |parts| {
            events
                .iter()
                .any(|event| event.stored.attr.sample_type.contains(parts))
        };
        let history = self.collect.history && carries(SampleType::BRANCH_STACK);
        // A stream may announce further events.
        self.options.call_graph_requested
            && !self.stream
            && !carries(SampleType::CALLCHAIN)
            && !history
    }

    /// LatencyUse put rows of equal weight in order even where threads ran alone so often that no column shows them.
    fn times_of(&self, profile: &Profile) -> LatencyUse {
        let has_latency = profile.events.iter().any(|event| event.latency_total > 0);
        match profile.has_latency {
            true => LatencyUse::Shown,
            false if has_latency => LatencyUse::Known,
            false => LatencyUse::Unknown,
        }
    }

    /// True if a column of parents is to be shown of a recording without call chains.
    pub(super) fn misses_chains_for_parents(&self, events: &[EventEntry]) -> bool {
        let chains = |event: &EventEntry| {
            event
                .stored
                .attr
                .sample_type
                .contains(SampleType::CALLCHAIN)
        };
        self.fields.keys().contains(&SortKey::Parent) && !self.stream && !events.iter().any(chains)
    }

    /// Finds out what callers of certain names mean for samples.
    pub(super) fn find_parents(&self, profile: &mut Profile) {
        let is_column = self.fields.keys().contains(&SortKey::Parent);
        let chains = profile.events.iter().any(|event| event.has_callchains);
        let order = chain_order(
            &self.options.call_graph,
            self.options.children.counted && chains,
        );
        // As in perf, only who looks at callers can ignore callees.
        let looks =
            self.options.children.counted || self.options.call_graph.shape.is_some() || is_column;
        self.options.parents.apply(profile, order, is_column, looks);
    }

    /// Options for tables as text, which can be a hierarchy.
    pub(super) fn for_text(&self, profile: &Profile) -> (HistOptions, ReportText) {
        let (mut hist, mut text) = self.for_profile(profile);
        if self.options.hierarchy {
            text.levels = self.fields.levels(&text.columns);
            let keys = |level: &Vec<Field>| {
                level
                    .iter()
                    .filter_map(|field| match field {
                        Field::Key(key) => Some(*key),
                        Field::Measure(_) => None,
                    })
                    .collect()
            };
            hist.levels = text.levels.iter().map(keys).collect();
            text.own_is_self = false;
            text.widths.clear();
        }
        (hist, text)
    }

    /// True if call chains matter to nothing but the call graphs of the few rows that are heavy enough to show one.
    pub(super) fn graphs_few_rows(&self) -> bool {
        let plain = self.counted == CountMode::Samples
            && !self.wants_types()
            && !self.total_cycles
            && !self.options.verbose;
        let by_weight = self
            .options
            .call_graph
            .shape
            .is_some_and(|shape| shape != Shape::Fractal);
        let asks_parents =
            self.options.parents.is_requested() || self.fields.keys().contains(&SortKey::Parent);
        let counts = !self.options.children.counted
            && !self.options.events.joins
            && !self.options.text.borrows_chains;
        plain && counts && by_weight && self.options.call_graph.min_percent > 0.0 && !asks_parents
    }

    /// Options for counting and for writing; the order of chains depends on whether the recording has any.
    pub(super) fn for_profile(&self, profile: &Profile) -> (HistOptions, ReportText) {
        // Branches have no callers.
        let callers = profile.events.iter().any(|event| event.has_callchains);
        let chains = self.counted != CountMode::Branches
            && (callers || !profile.branch_histories.is_empty());
        // The cost of an access is its own instruction's.
        let children = self.options.children.counted
            && chains
            && callers
            && self.counted == CountMode::Samples;
        // As chains were read.
        let accesses = self.counted == CountMode::Accesses;
        let from_callers = self.collect.history || accesses && callers;
        let order = chain_order(
            &self.options.call_graph,
            children || from_callers && self.options.children.counted,
        );
        // What an instruction works on is no caller's.
        let counts_callers =
            children && !self.wants_types() && (self.options.children.requested || !self.stream);
        let layout = self.fields.layout(counts_callers, self.times_of(profile));
        let hist = HistOptions {
            keys: self.fields.keys(),
            order_by: layout.order_by,
            order_by_event: self.options.events.order_by,
            extras: self.fields.wants_extras(),
            children: counts_callers,
            order,
            call_graph: self.options.call_graph.options(order).filter(|_| chains),
            min_percent: self.options.min_percent,
            group: self.options.events.group,
            empty: self.options.events.empty,
            levels: Vec::new(),
        };
        let skip_first = self.fields.symbol_first;
        let text = ReportText {
            columns: layout.columns,
            own_is_self: layout.own_is_self,
            nanoseconds: self.options.text.nanoseconds,
            addresses: self.options.verbose,
            by_cost: self.counted == CountMode::Accesses,
            sort_order: self.sort_order.clone(),
            socket: self.options.text.socket,
            times: self.options.text.times.clone(),
            separator: self.options.text.separator.clone(),
            widths: self.options.text.widths.clone(),
            narrow_objects: false,
            min_percent: self.options.min_percent,
            coloured: self.options.text.coloured,
            borrows_chains: self.options.text.borrows_chains,
            quiet: self.options.text.quiet,
            levels: Vec::new(),
            graph: self
                .options
                .call_graph
                .text(skip_first, self.options.text.coloured)
                .filter(|_| chains),
        };
        (hist, text)
    }
}
