//! The options of `report`: each defined once, with its help, and what they come to.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_abi::{EventType, SampleType};
use oxperf_analysis::collect::{CollectOptions, LineText};
use oxperf_analysis::hist::{BranchKey, HistOptions, Order, SortKey};
use oxperf_analysis::profile::Profile;
use oxperf_data::{Container, EventEntry};
use oxperf_itrace::ItraceOptions;
use oxperf_present::report::ReportText;

use super::branches::{self, Counted};
use super::call_graph::CallGraphSpec;
use crate::cmd::dump;
use crate::failure::Failure;
use crate::{header, input, naming};

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
    /// The keys that were asked for; the usual ones are not.
    sort: Option<String>,
    keys: Vec<SortKey>,
    counted: Counted,
    line_text: LineText,
    children: bool,
    /// Whether they were asked for, and are not just the default.
    children_asked: bool,
    /// Whether the recording comes as a stream.
    stream: bool,
    samples: bool,
    periods: bool,
    times: Option<String>,
    separator: Option<String>,
    widths: Vec<usize>,
    group: bool,
    min_percent: f64,
    call_graph: CallGraphSpec,
    /// Whether a call graph was asked for, and is not the usual one.
    call_graph_asked: bool,
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
        .next_help_heading("Which samples")
        .args(crate::filter::arguments())
        .args(super::shown::arguments())
        .next_help_heading("Instead of the table")
        .args([
            super::html::argument(),
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

fn table_arguments() -> [Arg; 15] {
    [
        flag("stdio").help("Write text [default where input or output is no terminal]"),
        Arg::new("sort")
            .long("sort")
            .short('s')
            .value_name("KEYS")
            .help("What tells rows apart: comm, dso, sym, srcline, srcfile, pid, tgid, cpu, trace, comma separated; +KEYS adds to the usual ones [default: comm,dso,sym]"),
        Arg::new("call-graph")
            .long("call-graph")
            .short('g')
            .value_name("SPEC")
            .num_args(0..=1)
            .default_missing_value("graph")
            .help("Call graphs: none, or graph|fractal|flat|folded, a percentage to hide below, caller|callee, percent|period|count, comma separated [default: graph,0.5,caller]"),
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
            .value_parser(value_parser!(f64))
            .help("Hide rows and branches below this percentage"),
        Arg::new("max-stack")
            .long("max-stack")
            .value_name("N")
            .value_parser(value_parser!(usize))
            .default_value("127")
            .help("Most callers of a sample that count"),
        flag("group").overrides_with("no-group").help("Show the events of a group in one table [default]"),
        flag("no-group").help("Show each event of a group in a table of its own"),
        flag("quiet").short('q').help("Accepted for perf's sake"),
    ]
}

/// Turns the arguments into what the stages take.
pub(super) fn resolve(matches: &ArgMatches) -> Result<Resolved, Failure> {
    let mut call_graph = CallGraphSpec::default();
    if let Some(text) = matches.get_one::<String>("call-graph") {
        call_graph.apply(text).map_err(Failure::bad_option)?;
    }
    if matches.get_flag("inverted") {
        call_graph.order = Some(Order::Caller);
    }
    let limit = matches.get_one::<f64>("percent-limit").copied();
    call_graph.min_percent = limit.unwrap_or(call_graph.min_percent);
    let header = match (matches.get_flag("header-only"), matches.get_flag("header")) {
        (true, _) => HeaderRequest::Only,
        (_, true) => HeaderRequest::First,
        _ => HeaderRequest::Hint,
    };
    let children = !matches.get_flag("no-children");
    let max_stack = matches.get_one("max-stack").copied().unwrap_or(127);
    let page = super::html::is_asked(matches);
    let chains = children || call_graph.shape.is_some() || page;
    Ok(Resolved {
        header,
        full_header: matches.get_flag("show-info"),
        collect: CollectOptions {
            by_cpu: false,
            chains,
            max_stack,
            keep_outermost: order(&call_graph, children) == Order::Caller,
            hide_unresolved: matches.get_flag("hide-unresolved"),
            moments: page,
            by_address: false,
            inlines: naming::inlines(matches),
            lines: None,
            branches: None,
        },
        sort: matches.get_one::<String>("sort").cloned(),
        keys: Vec::new(),
        counted: Counted::Samples,
        line_text: LineText { whole_paths: matches.get_flag("full-source-path") },
        children,
        children_asked: matches.get_flag("children"),
        stream: false,
        samples: matches.get_flag("show-nr-samples"),
        periods: matches.get_flag("show-total-period"),
        times: matches.get_one::<String>("time").cloned(),
        separator: matches.get_one::<String>("field-separator").filter(|text| !text.is_empty()).cloned(),
        widths: matches
            .get_many("column-widths")
            .into_iter()
            .flatten()
            .map(|&width: &u16| width.into())
            .collect(),
        group: !matches.get_flag("no-group"),
        min_percent: limit.unwrap_or(0.0),
        call_graph_asked: matches.contains_id("call-graph") && call_graph.shape.is_some(),
        call_graph,
    })
}

/// Chains are read from the outside in where callers are counted, too, unless it was said otherwise.
fn order(call_graph: &CallGraphSpec, children: bool) -> Order {
    call_graph.order.unwrap_or(if children { Order::Caller } else { Order::Callee })
}

fn sort_keys(text: Option<&str>, counted: Counted) -> Result<Vec<SortKey>, Failure> {
    let usual: &[SortKey] = match counted {
        Counted::Samples => &SortKey::DEFAULT,
        Counted::Branches => &SortKey::DEFAULT_OF_BRANCHES,
    };
    let Some(text) = text else { return Ok(usual.to_vec()) };
    let (mut keys, list) = match text.strip_prefix('+') {
        Some(list) => (usual.to_vec(), list),
        None => (Vec::new(), text),
    };
    for name in list.split([',', ' ']).filter(|name| !name.is_empty()) {
        let key = SortKey::parse(name).ok_or_else(|| {
            Failure::bad_option(format!(
                "Error:\nUnknown --sort key: `{name}'\nKnown keys: comm, dso, sym, srcline, srcfile, pid, tgid, cpu, trace"
            ))
        })?;
        if matches!(key, SortKey::Branch(_)) && counted != Counted::Branches {
            return Err(Failure::bad_option(format!(
                "Error:\nInvalid --sort key: `{name}'\nIt tells of branches: record them with -b, and report -b counts them"
            )));
        }
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    match keys.is_empty() {
        true => Ok(usual.to_vec()),
        false => Ok(keys),
    }
}

fn tells_lines(key: &SortKey) -> bool {
    let lines = [SortKey::SourceLine, SortKey::SourceFile];
    lines.contains(key) || matches!(key, SortKey::Branch(BranchKey::LineFrom | BranchKey::LineTo))
}

impl Resolved {
    /// What the keys come to for these events and what is counted of them. Tracepoints alone are told apart by what
    /// their records say, unless keys were asked for.
    pub(super) fn for_events(mut self, events: &[EventEntry], counted: Counted) -> Result<Resolved, Failure> {
        let tracepoint = |event: &EventEntry| event.stored.attr.kind == EventType::TRACEPOINT;
        self.keys = match self.sort.is_none() && !events.is_empty() && events.iter().all(tracepoint) {
            true => vec![SortKey::Trace],
            false => sort_keys(self.sort.as_deref(), counted)?,
        };
        self.counted = counted;
        self.collect.by_cpu = self.keys.contains(&SortKey::Cpu);
        self.collect.branches = (counted == Counted::Branches).then(|| branches::detail(&self.keys));
        self.collect.lines = self.keys.iter().any(tells_lines).then_some(self.line_text);
        Ok(self)
    }

    /// Of a stream perf does not count what a function called as its own, but reads its chains as if it did.
    pub(super) fn for_container(self, container: Container) -> Resolved {
        Resolved { stream: container == Container::Stream, ..self }
    }

    /// Whether a call graph was asked for that the recording cannot give.
    pub(super) fn misses_chains(&self, events: &[EventEntry]) -> bool {
        let chains = |event: &EventEntry| event.stored.attr.sample_type.contains(SampleType::CALLCHAIN);
        self.call_graph_asked && !events.iter().any(chains)
    }

    /// Whether a column shows what tracepoints' records say.
    pub(super) fn wants_traces(&self) -> bool {
        self.keys.contains(&SortKey::Trace)
    }

    /// What to count and what to write; how chains are read depends on whether the recording has any.
    pub(super) fn for_profile(&self, profile: &Profile) -> (HistOptions, ReportText) {
        // Branches have no callers.
        let chains =
            self.counted == Counted::Samples && profile.events.iter().any(|event| event.has_callchains);
        let children = self.children && chains;
        let order = order(&self.call_graph, children);
        let hist = HistOptions {
            keys: self.keys.clone(),
            children: children && (self.children_asked || !self.stream),
            order,
            call_graph: self.call_graph.options(order).filter(|_| chains),
            min_percent: self.min_percent,
            group: self.group,
        };
        let skip_first = self.sort.is_some() && self.keys.first() == Some(&SortKey::Symbol);
        let text = ReportText {
            keys: self.keys.clone(),
            samples: self.samples,
            periods: self.periods,
            times: self.times.clone(),
            separator: self.separator.clone(),
            widths: self.widths.clone(),
            narrow_objects: false,
            min_percent: self.min_percent,
            graph: self.call_graph.text(skip_first).filter(|_| chains),
        };
        (hist, text)
    }
}
