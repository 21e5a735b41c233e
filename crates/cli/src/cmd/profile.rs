//! `profile`: record a program, show where its time went, draw the flame graph.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use oxperf_analysis::flame::FlameTree;
use oxperf_analysis::hist::{HistOptions, Table, histograms};
use oxperf_capture::{CallGraph, Destination};
use oxperf_collect::CollectOptions;
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;
use oxperf_present::top_table::{HotOthers, HotRow, HotStyle, HotTable, NextStep};
use oxperf_profile::Profile;
use oxperf_symbols::{StoreOptions, SymbolStore};
use oxperf_sys::files::create_output;

use super::record::{self, Performed};
use crate::collect::{self, Loaded, Wishes};
use crate::failure::Failure;
use crate::filter::Filter;
use crate::input::Input;
use crate::output::print_error;

const EXAMPLES: &str = "\
Examples:
  oxperf profile -- ./program ARGS       profile a program
  oxperf profile -p 1234                 profile a running process until Ctrl-C
  oxperf profile -a -- sleep 10          profile the whole machine for ten seconds";

/// The options: those of `record`, and what to show.
pub(crate) fn command() -> Command {
    record::command()
        .name("profile")
        .about("Record a program, print its hottest functions and write a flame graph")
        .after_help(EXAMPLES)
        .override_usage("oxperf profile [OPTIONS] [--] COMMAND [ARGS]...\n       oxperf profile [OPTIONS] -a | -p PID | -t TID")
        .next_help_heading("What to show")
        .args([
            Arg::new("html")
                .long("html")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .default_value("flamegraph.html")
                .help("Where to write the flame graph"),
            Arg::new("top")
                .long("top")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("20")
                .help("Functions in the table"),
        ])
}

/// Runs `profile`; the exit code is the workload's.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    if matches
        .get_one::<PathBuf>("output")
        .is_some_and(|path| path.as_os_str() == "-")
    {
        return Err(Failure::new(
            "profile reads what it recorded: give -o the name of a file",
        ));
    }
    let mut command = match record::parse(matches) {
        Ok(command) => command,
        Err(problem) => return problem.report(),
    };
    let call_graph = &mut command.options.sampling.call_graph;
    if *call_graph == CallGraph::Off {
        *call_graph = CallGraph::FramePointers { max_stack: None };
    }
    let outcome = match record::perform(&command, program)? {
        Performed::Recorded(outcome) => outcome,
        Performed::Refused(exit) => return Ok(exit),
    };
    if let Destination::File(recording) = &outcome.output {
        show(matches, program, recording)?;
    }
    record::end_as(&outcome)
}

/// Prints the table and writes the flame graph.
fn show(matches: &ArgMatches, program: &str, recording: &Path) -> Result<(), Failure> {
    let input = Input::open(&recording.to_string_lossy(), true)?;
    let reader = input.reader()?;
    let store = SymbolStore::new(StoreOptions::default());
    let options = CollectOptions {
        chains: true,
        max_stack: 127,
        ..CollectOptions::default()
    };
    let Loaded {
        profile,
        diagnostics,
        ..
    } = collect::load(
        &input,
        &reader,
        &store,
        options,
        Wishes::default(),
        (matches, None),
        &Filter::default(),
    )?;
    let lost = collect::losses(&profile, &diagnostics);
    let page = matches
        .get_one::<PathBuf>("html")
        .cloned()
        .unwrap_or_default();
    let shown = matches.get_one::<usize>("top").copied().unwrap_or(20);
    print_hottest(
        &profile,
        shown,
        &lost,
        &next_steps(program, recording, &page),
    )?;
    write_flame_graph(&profile, &command_text(matches), &lost, &page)
}

/// Commands that look further, with what they show.
fn next_steps(program: &str, recording: &Path, page: &Path) -> Vec<(String, &'static str)> {
    let input = match recording == Path::new("perf.data") {
        true => String::new(),
        false => format!(" -i {}", recording.display()),
    };
    vec![
        (
            page.display().to_string(),
            "the flame graph: open it in a browser",
        ),
        (
            format!("{program} report{input}"),
            "callers and callees of every function",
        ),
        (
            format!("{program} script{input}"),
            "every sample with its call chain",
        ),
    ]
}

fn print_hottest(
    profile: &Profile,
    shown: usize,
    lost: &[String],
    next: &[(String, &str)],
) -> Result<(), Failure> {
    let options = HistOptions {
        children: false,
        group: false,
        ..HistOptions::default()
    };
    let next: Vec<NextStep<'_>> = next
        .iter()
        .map(|(command, shows)| NextStep { command, shows })
        .collect();
    let mut output = crate::output::stdout();
    for table in histograms(profile, &options) {
        let event = &profile.events[table.events[0]];
        if event.sample_count == 0 && profile.events.len() > 1 {
            continue;
        }
        let rows: Vec<HotRow> = (0..shown)
            .map_while(|row| hot_row(profile, &table, row))
            .collect();
        let hot = HotTable {
            event: &event.name,
            samples: event.sample_count,
            value: event.period_total,
            rows: &rows,
            others: others(&table, shown),
            lost,
            next: &next,
        };
        hot.write(&style(), &mut output)?;
    }
    output.finish()?;
    Ok(())
}

fn hot_row(profile: &Profile, table: &Table, index: usize) -> Option<HotRow> {
    let row = table.row(index)?;
    let own = table
        .cells(index)
        .first()
        .map(|cell| cell.own)
        .unwrap_or_default();
    let frame = profile.frames[row.frame.index()];
    let symbol = frame
        .symbol
        .map(|symbol| profile.symbols[symbol.index()].name.clone());
    let dso = frame.dso.map(|dso| profile.dsos[dso.index()].short.clone());
    Some(HotRow {
        samples: own.samples,
        value: own.period,
        comm: profile.comms[row.comm.index()].clone(),
        dso: dso.unwrap_or_else(|| "[unknown]".to_owned()),
        level: row.level.letter(),
        symbol: symbol.unwrap_or_else(|| format!("{:#018x}", row.address)),
    })
}

/// What the rows below the shown ones have together.
fn others(table: &Table, shown: usize) -> Option<HotOthers> {
    let rest = shown..table.len();
    let functions = rest.len() as u64;
    let value = rest
        .filter_map(|row| table.cells(row).first())
        .map(|cell| cell.own.period)
        .sum();
    (functions > 0).then_some(HotOthers { functions, value })
}

fn style() -> HotStyle {
    let out = io::stdout();
    if !out.is_terminal() {
        return HotStyle::PLAIN;
    }
    HotStyle {
        width: oxperf_sys::terminal::width(&out),
        colour: crate::environment::wants_colour(),
        bars: true,
    }
}

fn command_text(matches: &ArgMatches) -> String {
    let words = matches
        .get_many::<std::ffi::OsString>("workload")
        .into_iter()
        .flatten();
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    if words.is_empty() {
        "the recorded processes".to_owned()
    } else {
        words.join(" ")
    }
}

fn write_flame_graph(
    profile: &Profile,
    title: &str,
    lost: &[String],
    path: &Path,
) -> Result<(), Failure> {
    // A page shows one event: the first that has samples.
    let sampled = profile.events.iter().find(|event| event.sample_count > 0);
    let Some(event) = sampled.or(profile.events.first()) else {
        return Ok(());
    };
    let mut tree = FlameTree::of_event(profile, event);
    tree.fold(FlamePage::MAX_NODES);
    let unit = WeightUnit::of_event(&event.name);
    let subtitle = format!("{}, {} samples", event.name, event.sample_count);
    let page = FlamePage {
        title,
        subtitle: &subtitle,
        unit,
        lost,
        tree: &tree,
    };
    let write = || -> io::Result<()> {
        let mut file = BufWriter::with_capacity(1 << 20, create_output(path)?);
        page.write(&mut file)?;
        file.flush()
    };
    write().map_err(|error| {
        Failure::new(format!(
            "cannot write the flame graph {}: {error}",
            path.display()
        ))
    })?;
    if event.sample_count == 0 {
        print_error("No samples: did the program run long enough? Try a higher rate (-F max).");
    }
    Ok(())
}
