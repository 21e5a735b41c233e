//! The options of `diff`: each defined once, with its help, and what they come to.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_analysis::diff::{DiffOptions, Method};
use oxperf_analysis::hist::SortKey;
use oxperf_analysis::streams::KEYS;
use oxperf_collect::{CollectOptions, LineText};
use oxperf_itrace::ItraceOptions;
use oxperf_present::diff::DiffText;
use oxperf_query::read_names;

use super::options::Comparison;
use crate::arguments::{self, kinds::switch};
use crate::cmd::dump::arguments as dump;
use crate::cmd::report::row_filter::RowFilter;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::separator;

/// What is compared where nothing is named.
const OLD: &str = "perf.data.old";
const NEW: &str = "perf.data";

/// The keys that rows of different recordings can be told apart by.
const COMPARED: [SortKey; 9] = [
    SortKey::Thread,
    SortKey::Process,
    SortKey::Comm,
    SortKey::Dso,
    SortKey::Symbol,
    SortKey::CPU,
    SortKey::Trace,
    SortKey::SourceLine,
    SortKey::SourceFile,
];

fn valued(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value)
}

pub(super) fn command() -> Command {
    Command::new("diff")
        .about("Show what changed from one recording to others")
        .override_usage("oxperf diff [OPTIONS] [OLD] [NEW]...")
        .args([
            Arg::new("files").value_name("file").num_args(0..).help(
                "The recordings, the baseline first [default: perf.data.old perf.data; one alone stands for the new one]",
            ),
            switch("force").short('f').help("Read recordings that belong to somebody else"),
            switch("modules").short('m').help("Accepted for perf's sake"),
            switch("verbose").short('v').action(ArgAction::Count).help("Show whole paths of objects, and before symbols an address and a letter for where the names come from"),
        ])
        .next_help_heading("The table")
        .args(table_arguments())
        .next_help_heading("Which samples")
        .args(sample_arguments())
        .next_help_heading("Instead of the table")
        .args([
            switch("json").help("Write JSON: docs/json.md tells what it holds"),
            switch("stream").conflicts_with_all(["json", "flamegraph"]).help(
                "Show the chains of branches that samples came through most, of two recordings; other options of the table and names of samples count for nothing here",
            ),
            valued("flamegraph", "FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Write a flame graph of what changed: red grew, blue shrank; one HTML file"),
        ])
        .args(dump::arguments())
        .next_help_heading("Hardware trace")
        .args(arguments::itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(arguments::symbols::arguments())
}

fn table_arguments() -> [Arg; 9] {
    [
        valued("compute", "HOW")
            .short('c')
            .default_value("delta-abs")
            .help("How changes are told: delta, delta-abs, ratio, wdiff:OLD,NEW, cycles (of the code between branches)"),
        valued("order", "N")
            .short('o')
            .value_parser(value_parser!(usize))
            .default_value("1")
            .help("Order rows by the change to recording N; 0 by the baseline"),
        valued("sort", "KEYS")
            .short('s')
            .default_value("dso,symbol")
            .help("What rows are about, as for report"),
        switch("baseline-only").short('b').help("Show only what the baseline has"),
        switch("period").short('p').help("Show periods, too"),
        switch("formula").short('F').help("Show how each change comes about"),
        valued("field-separator", "TEXT")
            .short('t')
            .help("Put TEXT between columns; within a column it becomes a dot"),
        switch("cycles-hist").help("With -c cycles: show how the changes of single passes scatter"),
        switch("quiet").short('q').help("Show rows without headings, and no warnings"),
    ]
}

fn sample_arguments() -> [Arg; 8] {
    [
        valued("time", "START,STOP")
            .help("Count samples of these seconds only; also 10%/2, 0%-10%; : parts recordings"),
        valued("cpu", "LIST").help("Count these CPUs only, such as 0,2-4"),
        valued("comms", "NAMES")
            .short('C')
            .help("Count threads of these names only, comma separated or file://FILE"),
        valued("pid", "LIST").help("Count samples of these processes only"),
        valued("tid", "LIST").help("Count samples of these threads only"),
        valued("dsos", "NAMES")
            .short('d')
            .help("Count samples of these objects only"),
        valued("symbols", "NAMES")
            .short('S')
            .help("Count samples of these functions only"),
        valued("percentage", "HOW")
            .value_parser(["absolute", "relative"])
            .help("What shares are of: all samples, or those that count"),
    ]
}

/// Turns the arguments into what the stages take.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<Comparison, Failure> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let files = files(
        matches
            .get_many("files")
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
    );
    let streams = matches.get_flag("stream");
    let method = match method(computation(matches, configuration))? {
        _ if streams => Method::DeltaAbs,
        method => method,
    };
    let separator = arguments::separator(matches);
    if separator::is_refused(separator.as_deref()) {
        return Err(Failure::new(separator::NO_POINTS));
    }
    let configured = configuration.number("diff.order");
    let order = match (arguments::is_given(matches, "order"), configured) {
        (false, Some(order)) => usize::try_from(order).unwrap_or(usize::MAX),
        _ => matches.get_one("order").copied().unwrap_or(1),
    };
    if order >= files.len() {
        return Err(Failure::new("Order option out of limit."));
    }
    let scatter = matches.get_flag("cycles-hist");
    if scatter && method != Method::Cycles {
        return Err(Failure::bad_option("--cycles-hist needs -c cycles"));
    }
    let keys = match streams {
        true => KEYS.to_vec(),
        false => sort_keys(text("sort").unwrap_or_default())?,
    };
    let list = |name| text(name).filter(|_| !streams).map(read_names).transpose();
    let (comms, dsos, symbols) = (list("comms")?, list("dsos")?, list("symbols")?);
    // What is the same in all rows needs no column.
    let told = |key: &&SortKey| match key {
        SortKey::Comm => is_one(comms.as_ref()),
        SortKey::Dso => is_one(dsos.as_ref()),
        SortKey::Symbol => is_one(symbols.as_ref()),
        _ => false,
    };
    let columns: Vec<SortKey> = keys.iter().filter(|key| !told(key)).copied().collect();
    let flame_graph = matches.get_one::<PathBuf>("flamegraph").cloned();
    Ok(Comparison {
        recording: arguments::recording(matches, configuration),
        dump: dump::is_asked(matches).then(|| dump::order(matches)),
        collect: collect(matches, &keys, flame_graph.is_some() || streams),
        text: DiffText {
            method,
            keys: if columns.is_empty() {
                keys.clone()
            } else {
                columns
            },
            periods: matches.get_flag("period"),
            formula: matches.get_flag("formula"),
            scatter,
            separator,
            quiet: matches.get_flag("quiet"),
            addresses: matches.get_count("verbose") > 0,
            files: files.clone(),
        },
        times: times(text("time"), files.len()),
        diff: DiffOptions {
            keys,
            method,
            order,
            baseline_only: matches.get_flag("baseline-only"),
        },
        shown: RowFilter::of_names(
            dsos,
            symbols,
            arguments::shares_are_relative(matches, configuration),
        ),
        files,
        whole_paths: matches.get_flag("full-source-path"),
        json: matches.get_flag("json"),
        streams,
        flame_graph,
    })
}

/// The way in which changes are told: `-c`, else `diff.compute`, else perf's.
fn computation<'o>(matches: &'o ArgMatches, configuration: &'o Configuration) -> &'o str {
    let usual = matches.get_one::<String>("compute").map(String::as_str);
    let configured = configuration
        .text("diff.compute")
        .filter(|_| !arguments::is_given(matches, "compute"));
    configured.or(usual).unwrap_or_default()
}

fn is_one(names: Option<&Vec<String>>) -> bool {
    names.is_some_and(|names| names.len() == 1)
}

fn collect(matches: &ArgMatches, keys: &[SortKey], chains: bool) -> CollectOptions {
    let streams = matches.get_flag("stream");
    let lines = keys
        .iter()
        .any(|key| matches!(key, SortKey::SourceLine | SortKey::SourceFile));
    CollectOptions {
        chains,
        max_stack: 127,
        inlines: chains && !matches.get_flag("no-inline"),
        // Of the code of a line, some addresses count for more than others where streams are found.
        addresses_apart: streams || matches.get_count("verbose") > 0,
        history: streams,
        lines: lines.then(|| LineText {
            whole_paths: matches.get_flag("full-source-path"),
            known_only: false,
        }),
        ..CollectOptions::default()
    }
}

/// One name alone stands for the new recording.
fn files(named: Vec<String>) -> Vec<String> {
    match named.len() {
        0 => vec![OLD.to_owned(), NEW.to_owned()],
        1 => std::iter::once(OLD.to_owned()).chain(named).collect(),
        _ => named,
    }
}

/// `A:B` is A for the first recording and B for the second; what is said last holds for the rest.
fn times(text: Option<&str>, files: usize) -> Vec<Option<String>> {
    let Some(text) = text else {
        return vec![None; files];
    };
    let parts: Vec<&str> = text.split(':').collect();
    let part = |nth: usize| {
        parts
            .get(nth)
            .or(parts.last())
            .map(|part| String::from(*part))
    };
    (0..files).map(part).collect()
}

fn method(text: &str) -> Result<Method, Failure> {
    match text.split_once(':').unwrap_or((text, "")) {
        ("delta", _) => Ok(Method::Delta),
        ("delta-abs", _) => Ok(Method::DeltaAbs),
        ("ratio", _) => Ok(Method::Ratio),
        ("cycles", _) => Ok(Method::Cycles),
        ("wdiff", weights) => weights
            .split_once(',')
            .and_then(|(old, new)| Some((old.parse().ok()?, new.parse().ok()?)))
            .filter(|&(old, new): &(i64, i64)| old != 0 && new != 0)
            .map(|(old, new)| Method::Weighted { old, new })
            .ok_or_else(|| {
                Failure::bad_option("Failed: wrong weight data, use 'wdiff:w1,w2'".to_owned())
            }),
        _ => Err(Failure::bad_option(format!(
            "Failed: '{text}' is not computation method (use 'delta','ratio' or 'wdiff')"
        ))),
    }
}

fn sort_keys(text: &str) -> Result<Vec<SortKey>, Failure> {
    let mut keys = Vec::new();
    for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
        let unknown = || Failure::bad_option(format!("Error:\nUnknown --sort key: `{name}'"));
        let key = SortKey::parse(name)
            .filter(|key| COMPARED.contains(key))
            .ok_or_else(unknown)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods() {
        assert_eq!(method("delta").ok(), Some(Method::Delta));
        assert_eq!(
            method("wdiff:2,-3").ok(),
            Some(Method::Weighted { old: 2, new: -3 })
        );
        assert!(
            ["", "wdiff", "wdiff:1", "wdiff:0,1", "sum"]
                .into_iter()
                .all(|text| method(text).is_err())
        );
    }

    #[test]
    fn one_recording_is_the_new_one() {
        assert_eq!(files(vec![]), ["perf.data.old", "perf.data"]);
        assert_eq!(files(vec!["a".into()]), ["perf.data.old", "a"]);
    }

    #[test]
    fn times_of_each_recording() {
        assert_eq!(
            times(Some("1,2:3,4"), 3),
            ["1,2", "3,4", "3,4"].map(|text| Some(text.into()))
        );
        assert_eq!(times(None, 2), [None, None]);
    }
}
