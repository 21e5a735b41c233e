//! `report`: a recording as a table of functions and their callers.

mod accepted;
mod arguments;
mod branches;
mod call_graph;
pub(super) mod cycles;
mod fields;
mod html;
mod parents;
mod records;
mod screen;
pub(super) mod shown;
mod structured;
pub(super) mod verbose;

use std::io::Write;

use clap::{ArgMatches, Command};
use oxperf_abi::EventType;
use oxperf_analysis::hist::{graphed, histograms};
use oxperf_collect::{Alike, CollectOptions};
use oxperf_data::Reader;
use oxperf_itrace::ItraceOptions;
use oxperf_present::report::{branch_kinds, prologue, restrictions, table, tip};
use oxperf_profile::{EventProfile, Profile};
use oxperf_tracepoint::Formatters;

use super::dump;
use crate::collect::{Graphed, Loaded, Wishes};
use crate::failure::{Failure, code};
use crate::filter::{self, Filter};
use crate::input::{Input, report_chains, report_trouble};
use crate::output::{Output, print_error};
use crate::{collect, data_types, header, itrace, naming, separator, stitch};
use arguments::{HeaderRequest, Resolved};
use branches::Counted;
use shown::Shown;

/// What perf's users may not know; one a run.
const TIPS: [&str; 6] = [
    "Show every sample with its call chain: oxperf script",
    "Record call chains to see callers: oxperf record -g",
    "See what runs in functions themselves, without their callees: oxperf report --no-children",
    "Sort by thread: oxperf report -s pid,sym",
    "Hide small rows: oxperf report --percent-limit 1",
    "Draw a flame graph while recording: oxperf profile -- COMMAND",
];

const HINT: &[u8] =
    b"# To display the perf.data header info, please use --header/--header-only options.\n#\n";

/// The options.
pub(crate) fn command() -> Command {
    arguments::command()
}

const NO_CHAINS: &str = "\
Error:
Selected -g or --branch-history.
But no callchain or branch data.
Did you call 'perf record' without -g or -b?";

const NO_CHAINS_FOR_PARENTS: &str = "\
Error:
Selected --sort parent, but no callchain data. Did you call 'perf record' without -g?";

/// Runs `report`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let options = arguments::resolve(matches)?;
    let mut input = Input::from_matches(matches)?;
    loop {
        match report(matches, &input, options.clone())? {
            Next::Exit(code) => return Ok(code),
            Next::Recording(name) => input = Input::open(&name, matches.get_flag("force"))?,
        }
    }
}

/// What is to be done when a report is done.
enum Next {
    Exit(i32),
    /// The recording of this name is to be reported.
    Recording(String),
}

/// Reports one recording.
fn report(matches: &ArgMatches, input: &Input, options: Resolved) -> Result<Next, Failure> {
    let reader = input.reader()?;
    let mut output = crate::output::stdout();
    match options.header {
        _ if screen::is_wanted(matches) => {}
        HeaderRequest::Hint => {}
        _ => header::write(&mut output, input, &reader, options.full_header)?,
    }
    if options.header != HeaderRequest::Only {
        if matches.get_flag("stats") {
            return records::stats(input, &reader, output).map(Next::Exit);
        }
        if matches.get_flag("tasks") || matches.get_flag("mmaps") {
            return records::tasks(input, &reader, matches.get_flag("mmaps"), output)
                .map(Next::Exit);
        }
        if matches.get_flag("dump-raw-trace") {
            hint(&mut output, matches, &options)?;
            return dump::report(matches, input, &reader, output).map(Next::Exit);
        }
        if let Some(name) = show(matches, input, &reader, options, &mut output)? {
            return Ok(Next::Recording(name));
        }
    }
    output.finish()?;
    Ok(Next::Exit(code::SUCCESS))
}

/// Says how to see the header, where it is not shown.
fn hint(output: &mut Output, matches: &ArgMatches, options: &Resolved) -> Result<(), Failure> {
    let header = options.header;
    let other = options.quiet
        || html::is_asked(matches)
        || structured::is_asked(matches)
        || screen::is_wanted(matches);
    match header {
        HeaderRequest::Hint if !other => Ok(output.write_all(HINT)?),
        _ => Ok(()),
    }
}

/// Writes everything below the header; gives the recording that is wanted instead.
fn show(
    matches: &ArgMatches,
    input: &Input,
    reader: &Reader<'_>,
    options: Resolved,
    output: &mut Output,
) -> Result<Option<String>, Failure> {
    let traced = (matches, itrace::options(matches, ItraceOptions::REPORT)?);
    let mut counted = Counted::of(matches, reader, traced.1.as_ref());
    if matches.get_flag("mem-mode") {
        if counted == Some(Counted::Branches) || matches.get_flag("branch-stack") {
            print_error(branches::NO_ACCESSES_OF_BRANCHES);
            return Ok(None);
        }
        counted = Some(Counted::Accesses);
    }
    let has_tracepoints = reader
        .events()
        .iter()
        .any(|event| event.stored.attr.kind == EventType::TRACEPOINT);
    let formats = if has_tracepoints {
        collect::formatters(reader)
    } else {
        Formatters::default()
    };
    let options = options.for_recording(reader, &formats, counted.unwrap_or(Counted::Samples))?;
    hint(output, matches, &options)?;
    if options.separates_by_points() {
        print_error(separator::NO_POINTS);
        return Ok(None);
    }
    if options.misses_chains(reader.events()) {
        print_error(NO_CHAINS);
        return Ok(None);
    }
    if options.misses_chains_for_parents(reader.events()) {
        print_error(NO_CHAINS_FOR_PARENTS);
        return Ok(None);
    }
    if counted.is_none() {
        print_error(branches::NO_BRANCHES);
        return Ok(None);
    }
    if counted == Some(Counted::Accesses) && !branches::carries_accesses(reader) {
        print_error(branches::NO_ACCESSES);
        return Ok(None);
    }
    oxperf_sys::heap::keep_freed_memory();
    if let Err(failure) = filter::require_cpus(matches, reader.events()) {
        print_error(&format!("{failure}\nError:\nfailed to set cpu bitmap"));
        return Ok(None);
    }
    let names = naming::source(matches, reader)?;
    let details = options.details(reader, &Shown::details(matches));
    let filter = Filter::from_matches(matches, reader);
    if filter.is_err() {
        // Times and the like are looked at behind the hint.
        output.flush()?;
    }
    let (filter, threads) = filter?.split_threads();
    let shown = Shown::from_matches(matches, threads)?;
    let tells_threads = options.tells_threads() || shown.tells_threads();
    let is_text = !html::is_asked(matches) && !screen::is_wanted(matches);
    let collected = CollectOptions {
        stitch: stitch::registers(matches, reader),
        alike: if is_text && !tells_threads {
            Alike::Namesakes
        } else {
            Alike::None
        },
        ..options.collect
    };
    // A screen, a page and the like show chains wherever they are looked for.
    let few_graphs =
        is_text && !structured::is_asked(matches) && options.graphs_few_rows() && shown.shows_all();
    let graphed = |profile: &Profile| graphed(profile, &options.for_text(profile).0);
    let graphed = few_graphs.then_some(&graphed as &Graphed<'_>);
    let wishes = Wishes {
        details,
        formats: Some(&formats),
        graphed,
    };
    let Loaded {
        mut profile,
        diagnostics,
        machine,
    } = collect::load(input, reader, &names, collected, wishes, traced, &filter)?;
    if options.wants_paces() {
        profile.paces = cycles::paces(matches, (&machine, names.otherwise()), &profile);
    }
    if options.wants_types() {
        let from = (&machine, names.otherwise());
        profile.data_places = data_types::find(matches, from, &profile, &mut |_| {}).places;
    }
    if options.verbose {
        verbose::note_origins(&mut profile, &names, &machine);
    }
    drop(machine);
    naming::keep(&names);
    if !options.quiet {
        naming::report_nameless(names.otherwise());
        report_trouble(&diagnostics);
        report_chains(&profile.chain_losses);
    }
    // The profile has its own copies of the few names that it needs.
    drop(names);
    if profile.events.iter().all(EventProfile::is_empty) {
        print_error(&format!(
            "Error:\nThe {} data has no samples!",
            input.path().display()
        ));
        return Ok(None);
    }
    let groupless =
        profile.events.len() > 1 && profile.events.iter().all(|event| event.group.is_none());
    if options.joins_events && groupless {
        collect::join_events(&mut profile);
    }
    options.find_parents(&mut profile);
    if !options.shows_blocks() {
        shown.restrict(&mut profile);
    }
    if options.verbose {
        profile.show_whole_paths();
    }
    if html::is_asked(matches) {
        let lost = collect::losses(&profile, &diagnostics);
        return html::write(matches, &profile, &lost, (reader, input.path())).map(|()| None);
    }
    if screen::is_wanted(matches) {
        return screen::show(matches, (input, reader), &profile, &options, &shown);
    }
    if structured::is_asked(matches) {
        let losses = collect::losses(&profile, &diagnostics);
        let (hist, text) = options.for_profile(&profile);
        let mut tables = histograms(&profile, &hist);
        tables
            .iter_mut()
            .for_each(|table| shown.restrict_rows(&profile, table));
        let shown = (&profile, tables.as_slice(), hist.keys.as_slice());
        return structured::write(
            matches,
            shown,
            (input.path(), &losses),
            text.min_percent,
            output,
        )
        .map(|()| None);
    }
    write_tables(&options, &profile, &shown, output)?;
    if !options.quiet {
        tip(output, TIPS[profile.frames.len() % TIPS.len()])?;
        branch_kinds(output, &profile)?;
    }
    match matches.get_flag("threads") {
        true => records::thread_counters(matches, input, reader, output).map(|()| None),
        false => Ok(None),
    }
}

fn write_tables(
    options: &Resolved,
    profile: &Profile,
    shown: &Shown,
    output: &mut Output,
) -> Result<(), Failure> {
    let (hist, mut text) = options.for_text(profile);
    restrictions(output, &shown.restrictions(&text.columns))?;
    if !options.quiet {
        prologue(output, profile)?;
    }
    shown.narrow(&mut text);
    if options.shows_blocks() {
        return cycles::write_tables(output, profile, (&hist, &text));
    }
    for mut drawn in histograms(profile, &hist) {
        shown.restrict_rows(profile, &mut drawn);
        table(output, profile, &drawn, &text)?;
    }
    Ok(())
}
