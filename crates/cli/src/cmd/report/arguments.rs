//! The options of `report`: each defined once, with its help, and read here alone.

#[cfg(feature = "browser")]
mod browser;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_analysis::hist::{Measure, PrivilegeMode};
use oxperf_collect::{CollectOptions, LineText};
use oxperf_itrace::ItraceOptions;
use oxperf_present::recording::thread_counters::CounterLayout;
use oxperf_profile::ChainOrder;

use super::call_graph::{CallGraphSpec, Line};
use super::count_mode::CountOptions;
use super::fields::RequestedFields;
use super::options::{
    ChildrenOptions, EventOptions, HeaderRequest, ReportForm, ReportOptions, TableOptions,
    TextOptions,
};
use super::parents::{self, Parents};
use super::row_filter::RowFilterOptions;
use super::table_plan::chain_order;
use crate::arguments::kinds::switch;
use crate::arguments::{self, input, symbols};
use crate::cmd::dump::arguments as dump;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::{environment, header};

/// The section of the manual about percentages.
const OVERHEAD: &str = "\
OVERHEAD CALCULATION
       Overhead is the part of all periods that a row's own samples have. With
       call chains there is a column more, Children: it counts the samples of
       all functions that a row called, too. --no-children leaves that out and
       orders rows by what ran in the function itself.
";

pub(super) fn command() -> Command {
    Command::new("report")
        .about("Show a recording as a table of functions and their callers")
        .after_long_help(OVERHEAD)
        .args(input::arguments())
        .next_help_heading("The table")
        .args(table_arguments())
        .arg(
            Arg::new("tui")
                .long("tui")
                .action(ArgAction::SetTrue)
                .overrides_with("stdio")
                .help("Show a browser on the terminal [default there]"),
        )
        .args(super::count_mode::arguments())
        .arg(super::cycles::argument())
        .arg(arguments::stitch::argument())
        .args(super::accepted::arguments())
        .next_help_heading("Which samples")
        .args(arguments::filter::arguments())
        .args(super::row_filter::arguments())
        .args(parents::arguments())
        .args(arguments::switching::arguments())
        .next_help_heading("Instead of the table")
        .args([super::html::argument()])
        .args(super::structured::arguments())
        .args([
            switch("stats").help("Count the records of each kind"),
            switch("tasks").help("Show the threads as a tree"),
            switch("mmaps").help("Show the threads as a tree, with their mappings"),
        ])
        .args(dump::arguments())
        .next_help_heading("Hardware trace")
        .args(arguments::itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("The header")
        .args(header::arguments())
        .next_help_heading("Names")
        .args(symbols::arguments())
}

fn table_arguments() -> [Arg; 31] {
    [
        switch("stdio").help("Write text [default where input or output is no terminal]"),
        Arg::new("sort")
            .long("sort")
            .short('s')
            .value_name("key[,key2...]")
            .help("What tells rows apart, comma separated: comm, dso, sym, pid, cpu, srcline, time, fields of tracepoints and more; +KEYS adds to the usual ones [default: comm,dso,sym]"),
        Arg::new("fields")
            .long("fields")
            .short('F')
            .value_name("key[,keys...]")
            .help("The columns, comma separated: overhead, overhead_children, sample, period and more, and sort keys; +COLUMNS adds to the usual ones"),
        Arg::new("group-sort-idx")
            .long("group-sort-idx")
            .value_name("n")
            .value_parser(value_parser!(usize))
            .help("Put rows in order by the Nth event of a group, from 0"),
        switch("latency").help("Put the time that passed before the time that CPUs ran; needs a recording that tells when threads ran"),
        Arg::new("time-quantum")
            .long("time-quantum")
            .value_name("time (ms|us|ns|s)")
            .help("Steps of the sort key time, such as 10us [default: 100ms]"),
        switch("ns").help("Show times with all nine digits"),
        switch("raw-trace").help("Show records of tracepoints as lists of their fields"),
        // The name without hyphens is an older one, which scripts use.
        switch("show-cpu-utilization").alias("showcpuutilization").help("Show how much of each row ran in the kernel and how much not"),
        Arg::new("call-graph")
            .long("call-graph")
            .short('g')
            .value_name("print_type,threshold[,print_limit],order,sort_key[,branch],value")
            .num_args(0..=1)
            .default_missing_value("graph")
            .help("Call graphs: none, or graph|fractal|flat|folded, a percentage to hide below, caller|callee, percent|period|count, function|srcline|address, comma separated [default: graph,0.5,caller]"),
        switch("no-call-graph").overrides_with("call-graph").help("Draw no call graphs"),
        switch("inverted").short('G').help("Draw call graphs from callers to callees"),
        switch("children").overrides_with("no-children").help("Count what a function called as its own [default with call chains]"),
        switch("no-children").overrides_with("children").help("Count what ran in the function itself only"),
        switch("show-nr-samples").short('n').help("Show the number of samples of each row"),
        switch("show-total-period").help("Show the sum of the periods of each row's samples"),
        Arg::new("field-separator")
            .long("field-separator")
            .short('t')
            .value_name("separator")
            .help("Put TEXT between columns, and fill none up; within a column it becomes a dot"),
        Arg::new("column-widths")
            .long("column-widths")
            .short('w')
            .value_name("width[,width...]")
            .value_delimiter(',')
            .value_parser(value_parser!(u16))
            .help("Widths of the first columns; 0 for one that fits"),
        Arg::new("percent-limit")
            .long("percent-limit")
            .value_name("percent")
            .value_parser(percent)
            .help("Hide rows and branches below this percentage"),
        Arg::new("max-stack")
            .long("max-stack")
            .value_name("n")
            .value_parser(value_parser!(usize))
            .default_value("127")
            .help("Most callers of a sample that count"),
        switch("group").overrides_with("no-group").help("Show the events of a group in one table [default], and those of a recording without groups, too"),
        switch("no-group").help("Show each event of a group in a table of its own"),
        switch("skip-empty").overrides_with("no-skip-empty").help("Show no events without samples [default]"),
        switch("no-skip-empty").help("Show events without samples, too"),
        switch("hierarchy").short('H').help("Show rows below what they have in common, a key a level; {KEY,KEY} in -s share one"),
        switch("threads").short('T').help("Show below the tables what was counted of each thread, where record -s asked for that"),
        Arg::new("pretty")
            .long("pretty")
            .value_name("key")
            .value_parser(["normal", "raw"])
            .help("How --threads shows it: a line for each thread, or one for each value"),
        switch("show-ref-call-graph").help("Say where events borrow the call chains of others"),
        Arg::new("stdio-color")
            .long("stdio-color")
            .value_name("mode")
            .value_parser(["always", "never", "auto"])
            .default_value("auto")
            .help("Show percentages in colours"),
        switch("verbose").short('v').action(ArgAction::Count).help("Show whole paths of objects, and before symbols an address and a letter for where the names come from"),
        switch("quiet").short('q').help("Show rows alone, nothing above and below them, and no warnings"),
    ]
}

/// The options as values.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<ReportOptions, Failure> {
    let form = form(matches, configuration);
    let table = table_options(matches, configuration, matches!(form, ReportForm::Page(_)))?;
    let columns = match text(matches, "pretty") {
        Some("raw") => CounterLayout::Lines,
        _ => CounterLayout::Columns,
    };
    Ok(ReportOptions {
        recording: arguments::recording(matches, configuration),
        header: header_request(matches, &form),
        full_header: matches.get_flag("show-info"),
        counting: CountOptions {
            branches: matches.get_flag("branch-stack"),
            never_branches: matches.get_flag("no-branch-stack"),
            history: matches.get_flag("branch-history"),
            accesses: matches.get_flag("mem-mode"),
            page: matches!(form, ReportForm::Page(_)),
        },
        table,
        rows: row_filter(matches, configuration),
        thread_counters: matches.get_flag("threads").then_some(columns),
        #[cfg(feature = "browser")]
        browser: browser::options(matches, configuration),
        form,
    })
}

fn text<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m str> {
    matches.get_one::<String>(name).map(String::as_str)
}

/// The first form of these that is asked for; else a browser on a terminal, and text elsewhere.
fn form(matches: &ArgMatches, configuration: &Configuration) -> ReportForm {
    let with_maps = matches.get_flag("mmaps");
    if matches.get_flag("stats") {
        ReportForm::RecordCounts
    } else if matches.get_flag("tasks") || with_maps {
        ReportForm::Tasks { with_maps }
    } else if dump::is_asked(matches) {
        ReportForm::Dump(dump::order(matches))
    } else if let Some(path) = matches.get_one::<PathBuf>(super::html::NAME) {
        ReportForm::Page(path.clone())
    } else if matches.get_flag("json") {
        ReportForm::Json
    } else if matches.get_flag("csv") {
        ReportForm::Csv
    } else if is_text_requested(matches, configuration) || !is_on_terminal() {
        ReportForm::Text
    } else {
        ReportForm::Browser
    }
}

fn is_text_requested(matches: &ArgMatches, configuration: &Configuration) -> bool {
    let without_browser = configuration.flag("tui.report") == Some(false);
    without_browser && !matches.get_flag("tui")
        || matches.get_flag("stdio")
        || matches.get_flag("header-only")
        || matches.contains_id("field-separator")
}

fn is_on_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal() && !environment::is_dumb_terminal()
}

/// A browser shows the header itself; pages and what programs read have no line about it.
fn header_request(matches: &ArgMatches, form: &ReportForm) -> HeaderRequest {
    let quiet = matches.get_flag("quiet");
    let for_programs = matches.contains_id(super::html::NAME)
        || matches.get_flag("json")
        || matches.get_flag("csv");
    if matches.get_flag("header-only") && !quiet {
        HeaderRequest::Only
    } else if *form == ReportForm::Browser {
        HeaderRequest::Silent
    } else if matches.get_flag("header") && !quiet {
        HeaderRequest::First
    } else if quiet || for_programs {
        HeaderRequest::Silent
    } else {
        HeaderRequest::Hint
    }
}

fn call_graph(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<CallGraphSpec, Failure> {
    let mut call_graph = configured_call_graph(configuration)?;
    if let Some(text) = text(matches, "call-graph") {
        call_graph.apply(text).map_err(Failure::bad_option)?;
    }
    if matches.get_flag("no-call-graph") {
        call_graph.shape = None;
    }
    if matches.get_flag("inverted") {
        call_graph.order = Some(ChainOrder::Caller);
    }
    let limit = matches.get_one::<f64>("percent-limit").copied();
    call_graph.min_percent = limit.unwrap_or(call_graph.min_percent);
    if matches.get_flag("branch-history") {
        call_graph.line = Line::Address;
    }
    Ok(call_graph)
}

/// The usual call graph: `call-graph.*`, and `report.percent-limit` where that has no threshold.
fn configured_call_graph(configuration: &Configuration) -> Result<CallGraphSpec, Failure> {
    let mut call_graph = CallGraphSpec::default();
    for key in ["print-type", "order", "sort-key"] {
        if let Some(word) = configuration.text(&format!("call-graph.{key}")) {
            call_graph.apply(word).map_err(Failure::bad_option)?;
        }
    }
    let threshold = configuration
        .percentage("call-graph.threshold")
        .or_else(|| configuration.percentage("report.percent-limit"));
    call_graph.min_percent = threshold.unwrap_or(call_graph.min_percent).max(0.0);
    if let Some(lines) = configuration.number("call-graph.print-limit") {
        call_graph.limit = usize::try_from(lines).ok().filter(|&lines| lines > 0);
    }
    Ok(call_graph)
}

/// A switch that can be taken back: the option given last, else the configuration, else yes.
fn is_on(matches: &ArgMatches, name: &str, configured: Option<bool>) -> bool {
    if matches.get_flag(name) {
        true
    } else if matches.get_flag(&format!("no-{name}")) {
        false
    } else {
        configured.unwrap_or(true)
    }
}

fn table_options(
    matches: &ArgMatches,
    configuration: &Configuration,
    page: bool,
) -> Result<TableOptions, Failure> {
    let call_graph = call_graph(matches, configuration)?;
    let children = ChildrenOptions {
        counted: is_on(matches, "children", configuration.flag("report.children")),
        requested: matches.get_flag("children"),
    };
    let history = matches.get_flag("branch-history");
    let names = |name| text(matches, name).filter(|names| !names.is_empty());
    let parents = Parents::new(
        names("parent"),
        matches.get_flag("exclude-other"),
        names("ignore-callees"),
    )?;
    let columns = requested_fields(matches, configuration, parents.requested);
    let chains = children.counted
        || call_graph.shape.is_some()
        || page
        || parents.need_chains()
        || columns.names_parents();
    Ok(TableOptions {
        collect: CollectOptions {
            chains,
            max_stack: matches.get_one("max-stack").copied().unwrap_or(127),
            keep_outermost: chain_order(&call_graph, children.counted) == ChainOrder::Caller,
            hide_unresolved: matches.get_flag("hide-unresolved"),
            moments: page,
            inlines: !matches.get_flag("no-inline"),
            history,
            ..CollectOptions::default()
        },
        columns,
        line_text: LineText {
            whole_paths: matches.get_flag("full-source-path"),
            known_only: false,
        },
        time_quantum: time_quantum(text(matches, "time-quantum"))?,
        verbose: matches.get_count("verbose") > 0,
        raw_traces: matches.get_flag("raw-trace"),
        children,
        events: EventOptions {
            group: is_on(matches, "group", configuration.flag("report.group")),
            joins: matches.get_flag("group") || matches.get_flag("no-group"),
            empty: !is_on(
                matches,
                "skip-empty",
                configuration.flag("report.skip-empty"),
            ),
            order_by: matches.get_one("group-sort-idx").copied().unwrap_or(0),
        },
        text: text_options(matches),
        total_cycles: matches.get_flag("total-cycles"),
        hierarchy: matches.get_flag("hierarchy"),
        parallelism: matches.contains_id("parallelism"),
        min_percent: matches
            .get_one::<f64>("percent-limit")
            .copied()
            .or_else(|| configuration.percentage("report.percent-limit"))
            .unwrap_or(0.0),
        call_graph_requested: history
            || matches.contains_id("call-graph") && call_graph.shape.is_some(),
        call_graph,
        parents,
    })
}

fn text_options(matches: &ArgMatches) -> TextOptions {
    let widths = matches.get_many::<u16>("column-widths");
    TextOptions {
        socket: matches.get_one("socket-filter").copied(),
        times: text(matches, "time").map(str::to_owned),
        separator: arguments::separator(matches),
        widths: widths
            .into_iter()
            .flatten()
            .map(|&width| (width > 0).then_some(width.into()))
            .collect(),
        nanoseconds: matches.get_flag("ns"),
        coloured: arguments::colours(matches),
        borrows_chains: matches.get_flag("show-ref-call-graph"),
        quiet: matches.get_flag("quiet"),
    }
}

/// `-s`, `-F` and the flags that add columns; `parents` adds one of parents.
fn requested_fields(
    matches: &ArgMatches,
    configuration: &Configuration,
    parents: bool,
) -> RequestedFields {
    const MODES: &[Measure] = &[
        Measure::Mode(PrivilegeMode::System),
        Measure::Mode(PrivilegeMode::User),
    ];
    let flags = [
        ("show-cpu-utilization", MODES),
        ("show-nr-samples", &[Measure::Samples]),
        ("show-total-period", &[Measure::Period]),
    ];
    let added = flags.into_iter().filter(|(flag, _)| matches.get_flag(flag));
    RequestedFields {
        sort: text(matches, "sort").map(str::to_owned),
        usual: configuration.text("report.sort_order").map(str::to_owned),
        fields: text(matches, "fields").map(str::to_owned),
        added: added.flat_map(|(_, measures)| measures).copied().collect(),
        prefer_latency: matches.get_flag("latency"),
        parents,
    }
}

fn row_filter(matches: &ArgMatches, configuration: &Configuration) -> RowFilterOptions {
    let owned = |name| text(matches, name).map(str::to_owned);
    RowFilterOptions {
        dsos: owned("dsos"),
        symbols: owned("symbols"),
        part_of_symbol: owned("symbol").or_else(|| owned("symbol-filter")),
        relative: arguments::shares_are_relative(matches, configuration),
        socket: matches.get_one("socket-filter").copied(),
        parallelism: owned("parallelism"),
    }
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
