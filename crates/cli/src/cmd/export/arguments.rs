//! The options of `export`, and the typed options that are made of them.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_itrace::ItraceOptions;
use oxperf_present::export::Format;

use crate::arguments::{self, text};
use crate::cmd::script::arguments::{ChainRequest, OutputFormat, ScriptOptions};
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::input::InputOptions;
use crate::recording_options::{RecordingOptions, TraceRequest};

const EXAMPLES: &str = "\
Examples:
  oxperf export --format folded | flamegraph.pl > f.svg
  oxperf export --format speedscope -o f.json      open it at speedscope.app
  oxperf export --format firefox -o f.json         open it at profiler.firefox.com
  oxperf export --format perfetto -o f.pftrace     open it at ui.perfetto.dev
  oxperf export --format pprof -o f.pb             go tool pprof f.pb
  oxperf export --format callgrind -o f.out        callgrind_annotate f.out, kcachegrind f.out
  oxperf export --format otlp --push http://localhost:4318
                                                   OpenTelemetry's profiles to a receiver
  oxperf export --format parquet -o prof/          tables for SQL: duckdb, Spark, oxperf query
  oxperf export --format jsonl | jq .              every event as an object, as script --format jsonl";

/// The format that `script` writes.
const LINES: &str = "jsonl";
/// The format that is a folder of files.
const TABLES: &str = "parquet";

/// The options.
pub(crate) fn command() -> Command {
    Command::new("export")
        .about("Write a recording as a file that another tool shows")
        .after_help(EXAMPLES)
        .args(arguments::input::of_several())
        .next_help_heading("The file")
        .args([
            Arg::new("format")
                .long("format")
                .value_name("format")
                .required(true)
                .value_parser(PossibleValuesParser::new(
                    Format::ALL.map(|(name, _)| name).into_iter().chain([TABLES, LINES]),
                ))
                .help("Which tool the file is for"),
            Arg::new("output")
                .long("output")
                .short('o')
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write it [default: standard output]; for parquet a folder, which is added to"),
            Arg::new("push")
                .long("push")
                .value_name("url")
                .conflicts_with("output")
                .help("Send it to this receiver of OpenTelemetry's profiles, http:// or https://, in the place of a file (otlp)"),
            Arg::new("event")
                .long("event")
                .short('e')
                .value_name("event")
                .help("Which event's samples [default: all, in one-event formats the first that has any]"),
            Arg::new("max-stack")
                .long("max-stack")
                .value_name("n")
                .value_parser(value_parser!(usize))
                .default_value("127")
                .help("Most frames of a sample"),
        ])
        .next_help_heading("Tables")
        .args([
            Arg::new("lines")
                .long("lines")
                .action(ArgAction::SetTrue)
                .help("With parquet: stacks have source files and lines"),
            Arg::new("raw")
                .long("raw")
                .action(ArgAction::SetTrue)
                .conflicts_with_all(["lines", "inline"])
                .help("With parquet: stacks have build ids and offsets, to be named elsewhere; no program's symbols are read"),
            Arg::new("label")
                .long("label")
                .value_name("key=value")
                .action(ArgAction::Append)
                .help("With parquet: a text to find the recordings by; may be given several times"),
        ])
        .next_help_heading("Which samples")
        .args(arguments::filter::arguments())
        .arg(
            Arg::new("part")
                .long("part")
                .value_name("i/n")
                .help("Only part I of N of the work, such as 2/3: the samples of N such commands are those of all"),
        )
        .next_help_heading("Hardware trace")
        .args(arguments::itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(arguments::symbols::arguments())
}

/// Everything that `export` is asked for.
pub(super) struct ExportOptions {
    /// The recording, and the samples of it that count.
    pub(super) recording: RecordingOptions,
    /// The name of the format.
    pub(super) format: String,
    /// The file that is written; `None` for standard output.
    pub(super) output: Option<PathBuf>,
    /// The address of the receiver that it is sent to.
    pub(super) push: Option<String>,
    /// The event whose samples are exported; `None` for the first that has any.
    pub(super) event: Option<String>,
    /// Most frames of a sample.
    pub(super) max_stack: usize,
    /// The samples that are made of hardware trace; `None` makes none.
    pub(super) trace: Option<TraceRequest>,
    /// What tables are made of, and what they have.
    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "only the writer of Parquet files reads it")
    )]
    pub(super) tables: TableRequest,
}

/// What tables are made of, and what they have.
#[cfg_attr(
    not(feature = "parquet"),
    allow(dead_code, reason = "only the writer of Parquet files reads it")
)]
pub(super) struct TableRequest {
    /// The recordings, of which [`ExportOptions::recording`] names the first.
    pub(super) inputs: Vec<InputOptions>,
    /// Stacks have source lines.
    pub(super) lines: bool,
    /// The functions that were inlined are frames of their own in them.
    pub(super) inline: bool,
    /// Stacks are told apart by address, and have build ids and offsets.
    pub(super) raw: bool,
    /// The texts of `--label`, comma separated.
    pub(super) labels: Option<String>,
}

impl ExportOptions {
    /// Whether the format is that of `script --format jsonl`.
    pub(super) fn is_lines(&self) -> bool {
        self.format == LINES
    }

    /// Whether the format is a folder of tables.
    pub(super) fn is_tables(&self) -> bool {
        self.format == TABLES
    }

    /// The options of `script` that write every event as a line of JSON.
    pub(super) fn into_script(self) -> ScriptOptions {
        let plain = ScriptOptions::new(self.recording, OutputFormat::Jsonl);
        ScriptOptions {
            chains: ChainRequest {
                max_stack: self.max_stack,
                ..plain.chains
            },
            trace: self.trace,
            ..plain
        }
    }
}

/// The options that were given.
///
/// # Errors
/// One has a bad value.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<ExportOptions, Failure> {
    let format = text(matches, "format").unwrap_or_default().to_owned();
    // Each makes of hardware trace what the command does that shows it so.
    let own = if format == LINES {
        ItraceOptions::SCRIPT
    } else {
        ItraceOptions::REPORT
    };
    refuse_misplaced(matches, &format)?;
    let output = matches.get_one::<PathBuf>("output");
    let mut recording = arguments::recording(matches, configuration);
    recording.filter.part = text(matches, "part").map(str::parse).transpose()?;
    Ok(ExportOptions {
        format,
        output: output.filter(|path| path.as_os_str() != "-").cloned(),
        push: text(matches, "push").map(str::to_owned),
        event: text(matches, "event").map(str::to_owned),
        max_stack: matches.get_one("max-stack").copied().unwrap_or(127),
        trace: recording.trace.request(own)?,
        tables: TableRequest {
            inputs: arguments::input::several(matches),
            lines: arguments::flag(matches, "lines"),
            inline: arguments::flag(matches, "inline"),
            raw: arguments::flag(matches, "raw"),
            labels: labels(matches)?,
        },
        recording,
    })
}

/// Options that say nothing to this format.
fn refuse_misplaced(matches: &ArgMatches, format: &str) -> Result<(), Failure> {
    let refuse = |what: &str, with: &str| {
        let why = format!("{what} goes with --format {with}, not with {format}");
        Err(Failure::bad_option(why))
    };
    if matches.contains_id("push") && Format::parse(format) != Some(Format::Otlp) {
        return refuse("--push", "otlp");
    }
    if format == TABLES {
        return Ok(());
    }
    for option in ["lines", "raw"] {
        if arguments::flag(matches, option) {
            return refuse(&format!("--{option}"), TABLES);
        }
    }
    if matches.contains_id("label") {
        return refuse("--label", TABLES);
    }
    let inputs = matches.get_many::<String>("input").into_iter().flatten();
    if inputs.count() > 1 {
        return refuse("more than one -i", TABLES);
    }
    Ok(())
}

/// The texts of `--label`, comma separated.
fn labels(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    let labels: Vec<&String> = matches.get_many("label").into_iter().flatten().collect();
    let is_label = |label: &str| {
        let has_key = label
            .split_once('=')
            .is_some_and(|(key, _)| !key.is_empty());
        // Labels stand one behind the other in a column, a comma between.
        has_key && !label.contains(|letter: char| letter == ',' || letter.is_control())
    };
    if let Some(label) = labels.iter().find(|label| !is_label(label)) {
        let why = format!(
            "--label '{label}' is no key=value (commas and control characters are refused)"
        );
        return Err(Failure::bad_option(why));
    }
    let labels: Vec<&str> = labels.into_iter().map(String::as_str).collect();
    Ok((!labels.is_empty()).then(|| labels.join(",")))
}
