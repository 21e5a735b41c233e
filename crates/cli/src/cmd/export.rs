//! `export`: a recording as a file of another tool.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_analysis::flame::FlameTree;
use oxperf_collect::CollectOptions;
use oxperf_itrace::ItraceOptions;
use oxperf_present::export::{Exported, Format};
use oxperf_profile::{EventProfile, Profile};
use oxperf_sys::files::create_output;

use super::script;
use crate::arguments::build_id_argument;
use crate::collect::{Loaded, Wishes};
use crate::failure::{Failure, code};
use crate::filter::{self, Filter};
use crate::input::{self, Input, report_chains, report_trouble};
use crate::output::Output;
use crate::{collect, header, itrace, naming};

const EXAMPLES: &str = "\
Examples:
  oxperf export --format folded | flamegraph.pl > f.svg
  oxperf export --format speedscope -o f.json      open it at speedscope.app
  oxperf export --format firefox -o f.json         open it at profiler.firefox.com
  oxperf export --format perfetto -o f.pftrace     open it at ui.perfetto.dev
  oxperf export --format pprof -o f.pb             go tool pprof f.pb
  oxperf export --format callgrind -o f.out        callgrind_annotate f.out, kcachegrind f.out
  oxperf export --format jsonl | jq .              every event as an object, as script --format jsonl";

/// The format that `script` writes.
const LINES: &str = "jsonl";

/// The options.
pub(crate) fn command() -> Command {
    Command::new("export")
        .about("Write a recording as a file that another tool shows")
        .after_help(EXAMPLES)
        .args(input::arguments())
        .next_help_heading("The file")
        .args([
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .required(true)
                .value_parser(PossibleValuesParser::new(
                    Format::ALL.map(|(name, _)| name).into_iter().chain([LINES]),
                ))
                .help("Which tool the file is for"),
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write it [default: standard output]"),
            Arg::new("event")
                .long("event")
                .short('e')
                .value_name("EVENT")
                .help("Which event's samples [default: the first that has any]"),
            Arg::new("max-stack")
                .long("max-stack")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .default_value("127")
                .help("Most frames of a sample"),
        ])
        .next_help_heading("Which samples")
        .args(filter::arguments())
        .next_help_heading("Hardware trace")
        .args(itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(naming::arguments())
}

/// Runs `export`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let name = matches
        .get_one::<String>("format")
        .map_or("", String::as_str);
    if name == LINES {
        return write_lines(matches);
    }
    let format = Format::parse(name)
        .ok_or_else(|| Failure::bad_option(format!("unknown format '{name}'")))?;
    let path = matches
        .get_one::<PathBuf>("output")
        .filter(|path| path.as_os_str() != "-");
    if path.is_none()
        && matches!(format, Format::Pprof | Format::Perfetto)
        && io::stdout().is_terminal()
    {
        return Err(Failure::bad_option(format!(
            "{name} files are not text: name one with -o FILE"
        )));
    }
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    let names = naming::source(matches, &reader)?;
    let options = CollectOptions {
        chains: true,
        max_stack: matches.get_one("max-stack").copied().unwrap_or(127),
        moments: format.needs_moments() || format == Format::Pprof,
        inlines: naming::inlines(matches),
        ..CollectOptions::default()
    };
    let filter = Filter::from_matches(matches, &reader)?;
    let traced = (matches, itrace::options(matches, ItraceOptions::REPORT)?);
    let Loaded {
        profile,
        diagnostics,
        ..
    } = collect::load(
        &input,
        &reader,
        &names,
        options,
        Wishes::default(),
        traced,
        &filter,
    )?;
    naming::keep(&names);
    report_trouble(&diagnostics);
    report_chains(&profile.chain_losses);
    naming::report_nameless(names.otherwise());
    let event = choose(&profile, matches.get_one::<String>("event"), input.path())?;
    let (tree, places) = FlameTree::with_places(&profile, event);
    let lost = collect::losses(&profile, &diagnostics);
    let title = header::command_or_file(&reader, input.path());
    let exported = Exported {
        title: &title,
        lost: &lost,
        profile: &profile,
        event,
        tree: &tree,
        places: &places,
    };
    write(&exported, format, path)?;
    Ok(code::SUCCESS)
}

/// Every event as a line of JSON: `script` does that, with the same options.
fn write_lines(matches: &ArgMatches) -> Result<i32, Failure> {
    let command = script::command().arg(build_id_argument());
    let mut words: Vec<OsString> = vec!["script".into(), "--format=jsonl".into()];
    let given = |arg: &&Arg| {
        let id = arg.get_id().as_str();
        let known = matches.try_contains_id(id).unwrap_or(false);
        !matches!(id, "format" | "output")
            && known
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    for arg in command.get_arguments().filter(given) {
        let Some(long) = arg.get_long() else { continue };
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            words.push(format!("--{long}").into());
            continue;
        }
        for value in matches.get_raw(arg.get_id().as_str()).into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            word.push(value);
            words.push(word);
        }
    }
    let parsed = command
        .try_get_matches_from(words)
        .map_err(|error| Failure::bad_option(error.to_string()))?;
    let output =
        match matches
            .get_one::<PathBuf>("output")
            .filter(|path| path.as_os_str() != "-")
        {
            Some(path) => Output::new(create_output(path).map_err(|error| {
                Failure::new(format!("cannot write {}: {error}", path.display()))
            })?),
            None => crate::output::stdout(),
        };
    script::run_to(&parsed, output)
}

/// The event of this name, or the first with samples.
fn choose<'p>(
    profile: &'p Profile,
    name: Option<&String>,
    path: &Path,
) -> Result<&'p EventProfile, Failure> {
    let known = || {
        profile
            .events
            .iter()
            .map(|event| event.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match name {
        Some(name) => profile
            .events
            .iter()
            .find(|event| event.name == *name)
            .ok_or_else(|| {
                Failure::new(format!(
                    "{} has no event '{name}'; it has: {}",
                    path.display(),
                    known()
                ))
            }),
        None => profile
            .events
            .iter()
            .find(|event| event.sample_count > 0)
            .ok_or_else(|| {
                Failure::new(format!(
                    "{} has no samples; its events are: {}",
                    path.display(),
                    known()
                ))
            }),
    }
}

fn write(exported: &Exported<'_>, format: Format, path: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut output = crate::output::stdout();
        exported.write(format, &mut output)?;
        output.finish()?;
        return Ok(());
    };
    let written = || -> io::Result<()> {
        let mut output = Output::new(create_output(path)?);
        exported.write(format, &mut output)?;
        output.flush()
    };
    written().map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}
