//! The options of `report`: each defined once, with its help, and what they come to.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_abi::{AttrFlags, SampleType};
use oxperf_analysis::hist::{BranchKey, Field, HistOptions, Shape, SortKey};
use oxperf_collect::{BlockDetail, CollectOptions, LineText};
use oxperf_data::{Container, EventEntry, Reader};
use oxperf_itrace::ItraceOptions;
use oxperf_present::report::ReportText;
use oxperf_profile::Order;
use oxperf_profile::{Detail, DetailsWanted, Profile};
use oxperf_tracepoint::Formatters;

use super::branches::{self, Counted};
use super::call_graph::{CallGraphSpec, Line};
use super::cycles;
use super::fields::{Asked, Fields, Names, Times};
use super::parents::{self, Parents};
use crate::cmd::dump;
use crate::failure::Failure;
use crate::{collect, environment, header, input, naming, separator, stitch, switching};

/// Whether and when to show the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HeaderRequest {
    /// A line that says how to see it.
    Hint,
    /// Before the tables.
    First,
    /// And nothing else.
    Only,
}

/// What the arguments come to.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    pub(super) header: HeaderRequest,
    pub(super) full_header: bool,
    pub(super) collect: CollectOptions,
    asked: Asked,
    /// The columns; those of no recording before [`Resolved::for_recording`].
    fields: Fields,
    counted: Counted,
    line_text: LineText,
    time_quantum: u64,
    nanoseconds: bool,
    pub(super) verbose: bool,
    raw_traces: bool,
    order_by_event: usize,
    socket: Option<u64>,
    children: bool,
    /// Whether they were asked for, and are not just the default.
    children_asked: bool,
    /// Whether the recording comes as a stream: of one perf does not count what a function called as its own, but reads
    /// its chains as if it did.
    stream: bool,
    times: Option<String>,
    separator: Option<String>,
    widths: Vec<usize>,
    group: bool,
    /// Whether events that were recorded one by one are a group, too.
    pub(super) joins_events: bool,
    empty: bool,
    coloured: bool,
    borrows_chains: bool,
    pub(super) quiet: bool,
    /// Whether the code between branches is shown in the place of tables, if branches are counted.
    total_cycles: bool,
    hierarchy: bool,
    /// Whether samples are told apart by how many threads ran.
    parallelism: bool,
    min_percent: f64,
    call_graph: CallGraphSpec,
    /// Whether a call graph was asked for, and is not the usual one.
    call_graph_asked: bool,
    parents: Parents,
}

fn flag(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

pub(super) fn command() -> Command {
    Command::new("report")
        .about("Show a recording as a table of functions and their callers")
        .args(input::arguments())
        .next_help_heading("The table")
        .args(table_arguments())
        .arg(super::screen::argument())
        .args(super::branches::arguments())
        .arg(super::cycles::argument())
        .arg(stitch::argument())
        .args(super::accepted::arguments())
        .next_help_heading("Which samples")
        .args(crate::filter::arguments())
        .args(super::shown::arguments())
        .args(parents::arguments())
        .args(switching::arguments())
        .next_help_heading("Instead of the table")
        .args([super::html::argument()])
        .args(super::structured::arguments())
        .args([
            flag("stats").help("Count the records of each kind"),
            flag("tasks").help("Show the threads as a tree"),
            flag("mmaps").help("Show the threads as a tree, with their mappings"),
        ])
        .args(dump::arguments())
        .next_help_heading("Hardware trace")
        .args(crate::itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("The header")
        .args(header::arguments())
        .next_help_heading("Names")
        .args(naming::arguments())
}

fn table_arguments() -> [Arg; 31] {
    [
        flag("stdio").help("Write text [default where input or output is no terminal]"),
        Arg::new("sort")
            .long("sort")
            .short('s')
            .value_name("KEYS")
            .help("What tells rows apart, comma separated: comm, dso, sym, pid, cpu, srcline, time, fields of tracepoints and more; +KEYS adds to the usual ones [default: comm,dso,sym]"),
        Arg::new("fields")
            .long("fields")
            .short('F')
            .value_name("COLUMNS")
            .help("The columns, comma separated: overhead, overhead_children, sample, period and more, and sort keys; +COLUMNS adds to the usual ones"),
        Arg::new("group-sort-idx")
            .long("group-sort-idx")
            .value_name("N")
            .value_parser(value_parser!(usize))
            .help("Put rows in order by the Nth event of a group, from 0"),
        flag("latency").help("Put the time that passed before the time that CPUs ran; needs a recording that tells when threads ran"),
        Arg::new("time-quantum")
            .long("time-quantum")
            .value_name("TIME")
            .help("Steps of the sort key time, such as 10us [default: 100ms]"),
        flag("ns").help("Show times with all nine digits"),
        flag("raw-trace").help("Show records of tracepoints as lists of their fields"),
        flag("show-cpu-utilization").help("Show how much of each row ran in the kernel and how much not"),
        Arg::new("call-graph")
            .long("call-graph")
            .short('g')
            .value_name("SPEC")
            .num_args(0..=1)
            .default_missing_value("graph")
            .help("Call graphs: none, or graph|fractal|flat|folded, a percentage to hide below, caller|callee, percent|period|count, function|srcline|address, comma separated [default: graph,0.5,caller]"),
        flag("no-call-graph").overrides_with("call-graph").help("Draw no call graphs"),
        flag("inverted").short('G').help("Draw call graphs from callers to callees"),
        flag("children").overrides_with("no-children").help("Count what a function called as its own [default with call chains]"),
        flag("no-children").overrides_with("children").help("Count what ran in the function itself only"),
        flag("show-nr-samples").short('n').help("Show the number of samples of each row"),
        flag("show-total-period").help("Show the sum of the periods of each row's samples"),
        Arg::new("field-separator")
            .long("field-separator")
            .short('t')
            .value_name("TEXT")
            .help("Put TEXT between columns, and fill none up; within a column it becomes a dot"),
        Arg::new("column-widths")
            .long("column-widths")
            .short('w')
            .value_name("N,N,..")
            .value_delimiter(',')
            .value_parser(value_parser!(u16))
            .help("Widths of the first columns; 0 for one that fits"),
        Arg::new("percent-limit")
            .long("percent-limit")
            .value_name("PERCENT")
            .value_parser(percent)
            .help("Hide rows and branches below this percentage"),
        Arg::new("max-stack")
            .long("max-stack")
            .value_name("N")
            .value_parser(value_parser!(usize))
            .default_value("127")
            .help("Most callers of a sample that count"),
        flag("group").overrides_with("no-group").help("Show the events of a group in one table [default], and those of a recording without groups, too"),
        flag("no-group").help("Show each event of a group in a table of its own"),
        flag("skip-empty").overrides_with("no-skip-empty").help("Show no events without samples [default]"),
        flag("no-skip-empty").help("Show events without samples, too"),
        flag("hierarchy").short('H').help("Show rows below what they have in common, a key a level; {KEY,KEY} in -s share one"),
        flag("threads").short('T').help("Show below the tables what was counted of each thread, where record -s asked for that"),
        Arg::new("pretty")
            .long("pretty")
            .value_name("HOW")
            .value_parser(["normal", "raw"])
            .help("How --threads shows it: a line for each thread, or one for each value"),
        flag("show-ref-call-graph").help("Say where events borrow the call chains of others"),
        Arg::new("stdio-color")
            .long("stdio-color")
            .value_name("WHEN")
            .value_parser(["always", "never", "auto"])
            .default_value("auto")
            .help("Show percentages in colours"),
        flag("verbose").short('v').action(ArgAction::Count).help("Show whole paths of objects, and before symbols an address and a letter for where the names come from"),
        flag("quiet").short('q').help("Show rows alone, nothing above and below them, and no warnings"),
    ]
}

const NO_LATENCY: &str =
    "Error:\nUse of latency profile or parallelism requires --latency flag during record.";

/// Turns the arguments into what the stages take.
pub(super) fn resolve(matches: &ArgMatches) -> Result<Resolved, Failure> {
    let mut call_graph = CallGraphSpec::default();
    if let Some(text) = matches.get_one::<String>("call-graph") {
        call_graph.apply(text).map_err(Failure::bad_option)?;
    }
    if matches.get_flag("no-call-graph") {
        call_graph.shape = None;
    }
    if matches.get_flag("inverted") {
        call_graph.order = Some(Order::Caller);
    }
    let limit = matches.get_one::<f64>("percent-limit").copied();
    call_graph.min_percent = limit.unwrap_or(call_graph.min_percent);
    let asks = |header| matches.get_flag(header) && !input::is_quiet(matches);
    let header = match (asks("header-only"), asks("header")) {
        (true, _) => HeaderRequest::Only,
        (_, true) => HeaderRequest::First,
        _ => HeaderRequest::Hint,
    };
    let children = !matches.get_flag("no-children");
    let max_stack = matches.get_one("max-stack").copied().unwrap_or(127);
    let page = super::html::is_asked(matches);
    let history = matches.get_flag("branch-history");
    if history {
        call_graph.line = Line::Address;
    }
    let parents = Parents::from_matches(matches)?;
    let asked = Asked::from_matches(matches, parents.asked);
    let chains = children
        || call_graph.shape.is_some()
        || page
        || parents.need_chains()
        || asked.names_parents();
    Ok(Resolved {
        header,
        full_header: matches.get_flag("show-info"),
        collect: CollectOptions {
            chains,
            max_stack,
            keep_outermost: order(&call_graph, children) == Order::Caller,
            hide_unresolved: matches.get_flag("hide-unresolved"),
            moments: page,
            inlines: naming::inlines(matches),
            history,
            ..CollectOptions::default()
        },
        counted: Counted::Samples,
        line_text: LineText {
            whole_paths: matches.get_flag("full-source-path"),
        },
        asked,
        fields: Fields::default(),
        time_quantum: time_quantum(
            matches
                .get_one::<String>("time-quantum")
                .map(String::as_str),
        )?,
        nanoseconds: matches.get_flag("ns"),
        verbose: matches.get_count("verbose") > 0,
        raw_traces: matches.get_flag("raw-trace"),
        order_by_event: matches.get_one("group-sort-idx").copied().unwrap_or(0),
        socket: matches.get_one("socket-filter").copied(),
        children,
        children_asked: matches.get_flag("children"),
        stream: false,
        times: matches.get_one::<String>("time").cloned(),
        separator: separator::of(matches),
        widths: matches
            .get_many("column-widths")
            .into_iter()
            .flatten()
            .map(|&width: &u16| width.into())
            .collect(),
        group: !matches.get_flag("no-group"),
        joins_events: matches.get_flag("group") || matches.get_flag("no-group"),
        empty: matches.get_flag("no-skip-empty"),
        coloured: environment::colours(matches),
        borrows_chains: matches.get_flag("show-ref-call-graph"),
        quiet: matches.get_flag("quiet"),
        total_cycles: matches.get_flag("total-cycles"),
        hierarchy: matches.get_flag("hierarchy"),
        parallelism: matches.contains_id("parallelism"),
        min_percent: limit.unwrap_or(0.0),
        call_graph_asked: history
            || matches.contains_id("call-graph") && call_graph.shape.is_some(),
        call_graph,
        parents,
    })
}

/// Chains are read from the outside in where callers are counted, too, unless it was said otherwise.
fn order(call_graph: &CallGraphSpec, children: bool) -> Order {
    call_graph.order.unwrap_or(if children {
        Order::Caller
    } else {
        Order::Callee
    })
}

/// `0.5` or `0.5%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    number.map_err(|_| "expected a number of hundredths, such as 0.5".to_owned())
}

/// `10us`, in nanoseconds.
fn time_quantum(text: Option<&str>) -> Result<u64, Failure> {
    const USUAL: u64 = 100_000_000;
    let Some(text) = text else { return Ok(USUAL) };
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match text.get(digits.len()..) {
        Some("ns" | "") => Some(1),
        Some("us") => Some(1000),
        Some("ms") => Some(1_000_000),
        Some("s") => Some(1_000_000_000),
        _ => None,
    };
    let steps = unit.and_then(|unit| digits.parse::<u64>().ok()?.checked_mul(unit));
    match steps {
        Some(0) => Err(Failure::bad_option("time quantum cannot be 0")),
        Some(steps) => Ok(steps),
        None => Err(Failure::bad_option(format!(
            "Error: --time-quantum `{text}' is no time such as 10us"
        ))),
    }
}

fn tells_lines(key: &SortKey) -> bool {
    let lines = [SortKey::SourceLine, SortKey::SourceFile];
    lines.contains(key)
        || matches!(
            key,
            SortKey::Branch(BranchKey::LineFrom | BranchKey::LineTo)
        )
}

impl Resolved {
    /// Looks up the columns' names among those of the recording and what is counted of it.
    pub(super) fn for_recording(
        mut self,
        reader: &Reader<'_>,
        formats: &Formatters,
        counted: Counted,
    ) -> Result<Resolved, Failure> {
        let events = reader.events();
        let event_names: Vec<String> = events
            .iter()
            .map(|event| event.name.clone().unwrap_or_default())
            .collect();
        let history = self.collect.history;
        let names = Names {
            events,
            event_names: &event_names,
            formats,
            counted,
            history,
            raw_traces: self.raw_traces,
        };
        self.total_cycles &= counted == Counted::Branches;
        if self.total_cycles {
            self.asked = self.asked.without_keys();
        }
        self.fields = self.asked.resolve(&names)?;
        let switches =
            |event: &EventEntry| event.stored.attr.flags.contains(AttrFlags::CONTEXT_SWITCH);
        if (self.fields.wants_latency() || self.parallelism) && !events.iter().any(switches) {
            return Err(Failure::new(NO_LATENCY));
        }
        let keys = self.fields.keys();
        self.collect.addresses_apart = self.verbose
            || keys.iter().any(|key| key.by_address())
            || self.call_graph.line == Line::Address;
        self.collect.map_sizes = keys.contains(&SortKey::DsoSize);
        self.counted = counted;
        self.collect.by_cost = counted == Counted::Accesses;
        self.collect.branches =
            (counted == Counted::Branches).then(|| branches::detail(&keys, self.verbose));
        self.collect.blocks = (self.total_cycles || self.wants_paces()).then(|| BlockDetail {
            consecutive: cycles::are_consecutive(events),
            lines: self.total_cycles.then_some(self.line_text),
        });
        let lines = self.call_graph.line != Line::Function || keys.iter().any(tells_lines);
        self.collect.lines = lines.then_some(self.line_text);
        self.stream = reader.container() == Container::Stream;
        Ok(self)
    }

    /// Whether a column is about the types of data.
    pub(super) fn wants_types(&self) -> bool {
        self.fields.keys().into_iter().any(SortKey::is_of_types)
    }

    /// Whether the code between branches is shown in the place of tables.
    pub(super) fn shows_blocks(&self) -> bool {
        self.total_cycles
    }

    /// Whether a column shows threads or processes.
    pub(super) fn tells_threads(&self) -> bool {
        let keys = self.fields.keys();
        [SortKey::Thread, SortKey::Process]
            .iter()
            .any(|key| keys.contains(key))
    }

    /// Whether a column shows how fast functions ran.
    pub(super) fn wants_paces(&self) -> bool {
        self.fields.keys().contains(&SortKey::Ipc)
    }

    /// What samples are asked beside their thread and place, and `more` of it that filters need.
    pub(super) fn details(&self, reader: &Reader<'_>, more: &[Detail]) -> DetailsWanted {
        let mut wanted = DetailsWanted {
            sockets: collect::sockets(reader),
            time_quantum: self.time_quantum,
            raw_traces: self.raw_traces,
            ..self.fields.details()
        };
        for detail in more {
            if !wanted.details.contains(detail) {
                wanted.details.push(*detail);
            }
        }
        wanted
    }

    /// Whether columns were to be separated by what stands within their numbers.
    pub(super) fn separates_by_points(&self) -> bool {
        separator::is_refused(self.separator.as_deref())
    }

    /// Whether a call graph was asked for that the recording cannot give.
    pub(super) fn misses_chains(&self, events: &[EventEntry]) -> bool {
        let carries = |parts| {
            events
                .iter()
                .any(|event| event.stored.attr.sample_type.contains(parts))
        };
        let history = self.collect.history && carries(SampleType::BRANCH_STACK);
        // A stream may tell of further events.
        self.call_graph_asked && !self.stream && !carries(SampleType::CALLCHAIN) && !history
    }

    /// Times put rows of equal weight in order even where threads ran alone so often that no column shows them.
    fn times_of(&self, profile: &Profile) -> Times {
        let told = profile.events.iter().any(|event| event.latency_total > 0);
        match profile.has_latency {
            true => Times::Shown,
            false if told => Times::Known,
            false => Times::Unknown,
        }
    }

    /// Whether a column of parents is to be shown of a recording without call chains.
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
        let order = order(&self.call_graph, self.children && chains);
        // As in perf, only who looks at callers can ignore callees.
        let looks = self.children || self.call_graph.shape.is_some() || is_column;
        self.parents.apply(profile, order, (is_column, looks));
    }

    /// The same for text, which can be an outline.
    pub(super) fn for_text(&self, profile: &Profile) -> (HistOptions, ReportText) {
        let (mut hist, mut text) = self.for_profile(profile);
        if self.hierarchy {
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

    /// Whether call chains matter to nothing but the call graphs of the few rows that are heavy enough to show one.
    pub(super) fn graphs_few_rows(&self) -> bool {
        let plain = self.counted == Counted::Samples
            && !self.wants_types()
            && !self.total_cycles
            && !self.verbose;
        let by_weight = self
            .call_graph
            .shape
            .is_some_and(|shape| shape != Shape::Fractal);
        let asks_parents = self.parents.is_asked() || self.fields.keys().contains(&SortKey::Parent);
        let counts = !self.children && !self.joins_events && !self.borrows_chains;
        plain && counts && by_weight && self.call_graph.min_percent > 0.0 && !asks_parents
    }

    /// What to count and what to write; how chains are read depends on whether the recording has any.
    pub(super) fn for_profile(&self, profile: &Profile) -> (HistOptions, ReportText) {
        // Branches have no callers.
        let callers = profile.events.iter().any(|event| event.has_callchains);
        let chains =
            self.counted != Counted::Branches && (callers || !profile.histories.is_empty());
        // The cost of an access is its own instruction's.
        let children = self.children && chains && callers && self.counted == Counted::Samples;
        // As chains were read.
        let accesses = self.counted == Counted::Accesses;
        let from_callers = self.collect.history || accesses && callers;
        let order = order(&self.call_graph, children || from_callers && self.children);
        // What an instruction works on is no caller's.
        let counts_callers =
            children && !self.wants_types() && (self.children_asked || !self.stream);
        let layout = self.fields.layout(counts_callers, self.times_of(profile));
        let hist = HistOptions {
            keys: self.fields.keys(),
            order_by: layout.order_by,
            order_by_event: self.order_by_event,
            extras: self.fields.wants_extras(),
            children: counts_callers,
            order,
            call_graph: self.call_graph.options(order).filter(|_| chains),
            min_percent: self.min_percent,
            group: self.group,
            empty: self.empty,
            levels: Vec::new(),
        };
        let skip_first = self.fields.symbol_first;
        let text = ReportText {
            columns: layout.columns,
            own_is_self: layout.own_is_self,
            nanoseconds: self.nanoseconds,
            addresses: self.verbose,
            by_cost: self.counted == Counted::Accesses,
            sort_order: self
                .asked
                .sort_order()
                .filter(|_| self.counted == Counted::Accesses),
            socket: self.socket,
            times: self.times.clone(),
            separator: self.separator.clone(),
            widths: self.widths.clone(),
            narrow_objects: false,
            min_percent: self.min_percent,
            coloured: self.coloured,
            borrows_chains: self.borrows_chains,
            quiet: self.quiet,
            levels: Vec::new(),
            graph: self
                .call_graph
                .text(skip_first, self.coloured)
                .filter(|_| chains),
        };
        (hist, text)
    }
}
