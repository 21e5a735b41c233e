//! The options of `script`, and the typed options that are made of them.

mod option_aliases;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_abi::RecordType;
use oxperf_itrace::ItraceOptions;
use oxperf_present::script::FieldSpec;
use oxperf_query::RecordOrder;
use oxperf_script::clock::ShownTime;
use oxperf_script::functions::FunctionNames;

use crate::arguments::{self, text};
use crate::cmd::dump::arguments as dump;
use crate::configuration::Configuration;
use crate::failure::Failure;
use crate::header;
use crate::recording_options::{RecordingOptions, TraceRequest};

/// The form that samples get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum OutputFormat {
    /// Lines of text.
    #[default]
    Text,
    /// An object of JSON on a line.
    Jsonl,
    /// Rows of values.
    Csv,
}

/// The parts of the recording's header that are shown before the samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeaderOptions {
    /// The header is shown.
    pub(crate) shown: bool,
    /// No sample is.
    pub(crate) alone: bool,
    /// All of it, lists of CPUs and the like included.
    pub(crate) full: bool,
}

/// Call chains of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainRequest {
    /// They are shown.
    pub(crate) shown: bool,
    /// Most callers.
    pub(crate) max_stack: usize,
    /// Chains whose user part was recorded apart are not joined.
    pub(crate) leaves_open: bool,
}

/// The look of lines of text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineOptions {
    /// The origin of times.
    pub(crate) clock: ShownTime,
    /// Times have nine decimals.
    pub(crate) nanoseconds: bool,
    /// Names of threads have a column of eight characters.
    pub(crate) narrow: bool,
    /// Characters for the names of objects before indented functions.
    pub(crate) object_width: usize,
    /// The most blocks of code between branches that are shown of a sample.
    pub(crate) max_blocks: Option<usize>,
}

/// A filter of the user's.
#[derive(Clone, Debug)]
pub(crate) struct DlfilterRequest {
    /// Its file.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// A program of the user's that reads the events.
#[derive(Clone, Debug)]
pub(crate) struct ProgramRequest {
    /// The program, as named.
    pub(crate) name: Option<String>,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
}

/// Everything that `script` is asked for.
#[derive(Clone, Debug)]
pub(crate) struct ScriptOptions {
    /// The recording, and the samples of it that count.
    pub(crate) recording: RecordingOptions,
    pub(crate) header: HeaderOptions,
    pub(crate) format: OutputFormat,
    /// A program of the user's reads the output, and may end before it does.
    pub(crate) is_read: bool,
    /// The samples of each event go to a file of its own.
    pub(crate) per_event_dump: bool,
    pub(crate) fields: FieldSpec,
    pub(crate) lines: LineOptions,
    pub(crate) chains: ChainRequest,
    /// The samples that are made of hardware trace; `None` makes none.
    pub(crate) trace: Option<TraceRequest>,
    pub(crate) functions: FunctionNames,
    /// Most samples that are shown.
    pub(crate) max_events: Option<u64>,
    pub(crate) dlfilter: Option<DlfilterRequest>,
    /// The kinds of other records that are shown.
    pub(crate) records: Vec<RecordType>,
    /// Records are shown as bytes and in words, in this order.
    pub(crate) dump: Option<RecordOrder>,
    /// The form of the call tree that is shown instead of samples.
    pub(crate) call_tree: Option<String>,
    /// The language of the program that is written instead of samples.
    pub(crate) gen_script: Option<String>,
    /// No samples are shown, but mistakes in them.
    pub(crate) debug_mode: bool,
}

impl ScriptOptions {
    /// The samples of a recording in a format, without more.
    pub(crate) fn new(recording: RecordingOptions, format: OutputFormat) -> ScriptOptions {
        ScriptOptions {
            recording,
            header: HeaderOptions::default(),
            format,
            is_read: false,
            per_event_dump: false,
            fields: FieldSpec::default(),
            lines: LineOptions::default(),
            chains: ChainRequest {
                shown: true,
                max_stack: 127,
                leaves_open: false,
            },
            trace: None,
            functions: FunctionNames::default(),
            max_events: None,
            dlfilter: None,
            records: Vec::new(),
            dump: None,
            call_tree: None,
            gen_script: None,
            debug_mode: false,
        }
    }
}

/// The action that is asked for.
pub(super) enum Request {
    /// A list of the filters in this folder.
    ListDlfilters,
    /// A list of the programs in this folder.
    ListPrograms,
    /// The samples, for a program of the user's or for standard output. Options that are refused are so once the program
    /// runs.
    Show(ProgramRequest, Result<Box<ScriptOptions>, Failure>),
}

/// The action that is asked for.
pub(super) fn request(matches: &ArgMatches, configuration: &Configuration) -> Request {
    if matches.get_flag("list-dlfilters") {
        return Request::ListDlfilters;
    }
    if matches.get_flag("list") {
        return Request::ListPrograms;
    }
    let program = ProgramRequest {
        name: text(matches, "script").map(str::to_owned),
        arguments: list(matches, "script-args"),
    };
    Request::Show(program, options(matches, configuration).map(Box::new))
}

/// The options that were given.
///
/// # Errors
/// They contradict each other, or one has a bad value.
fn options(matches: &ArgMatches, configuration: &Configuration) -> Result<ScriptOptions, Failure> {
    let clock = clock(matches)?;
    let fields =
        option_aliases::fields(matches).map_err(|error| Failure::bad_option(error.to_string()))?;
    let alias = option_aliases::given(matches);
    let own = alias.map_or(ItraceOptions::SCRIPT, |alias| alias.itrace());
    let recording = arguments::recording(matches, configuration);
    let trace = recording.trace.request(own)?;
    let max_blocks = matches.get_one("max-blocks").copied();
    let only_header = matches.get_flag("header-only");
    Ok(ScriptOptions {
        header: HeaderOptions {
            shown: matches.get_flag("header") || only_header,
            alone: only_header,
            full: matches.get_flag("show-info"),
        },
        per_event_dump: matches.get_flag("per-event-dump"),
        fields,
        lines: LineOptions {
            clock,
            nanoseconds: matches.get_flag("ns") || alias.is_some(),
            narrow: matches.get_flag("Latency"),
            object_width: alias.map_or(0, |alias| alias.object_width),
            max_blocks: max_blocks.filter(|blocks| *blocks > 0),
        },
        chains: ChainRequest {
            shown: !matches.get_flag("hide-call-graph"),
            max_stack: matches.get_one("max-stack").copied().unwrap_or(127),
            leaves_open: matches.get_flag("no-merge-callchains"),
        },
        trace,
        functions: functions(matches),
        max_events: matches.get_one("max-events").copied(),
        dlfilter: dlfilter(matches),
        records: records(matches),
        dump: dump::is_asked(matches).then(|| dump::order(matches)),
        call_tree: text(matches, "call-tree").map(str::to_owned),
        gen_script: text(matches, "gen-script").map(str::to_owned),
        debug_mode: matches.get_flag("debug-mode"),
        ..ScriptOptions::new(recording, format(matches))
    })
}

fn clock(matches: &ArgMatches) -> Result<ShownTime, Failure> {
    match (matches.get_flag("reltime"), matches.get_flag("deltatime")) {
        (true, true) => Err(Failure::new(
            "--reltime and --deltatime tell the same times in two ways: give one of them",
        )),
        (true, false) => Ok(ShownTime::SinceFirst(None)),
        (false, true) => Ok(ShownTime::SincePrevious(None)),
        (false, false) => Ok(ShownTime::Recorded),
    }
}

fn format(matches: &ArgMatches) -> OutputFormat {
    let named = text(matches, "format").unwrap_or("text");
    if matches.get_flag("json") || named == "jsonl" {
        OutputFormat::Jsonl
    } else if matches.get_flag("csv") || named == "csv" {
        OutputFormat::Csv
    } else {
        OutputFormat::Text
    }
}

fn functions(matches: &ArgMatches) -> FunctionNames {
    FunctionNames {
        shown: list(matches, "symbols"),
        address_range: matches.get_one("addr-range").copied().unwrap_or(0),
        dsos: list(matches, "dsos"),
        last_of_chains: list(matches, "stop-bt"),
        graph: list(matches, "graph-function"),
    }
}

fn dlfilter(matches: &ArgMatches) -> Option<DlfilterRequest> {
    Some(DlfilterRequest {
        name: text(matches, "dlfilter")?.to_owned(),
        arguments: list(matches, "dlarg"),
    })
}

fn records(matches: &ArgMatches) -> Vec<RecordType> {
    let asked = RECORDS.iter().filter(|(name, ..)| matches.get_flag(name));
    asked
        .flat_map(|(.., kinds)| kinds.iter().copied())
        .collect()
}

/// All texts of an option.
fn list(matches: &ArgMatches, name: &str) -> Vec<String> {
    let given = matches.get_many::<String>(name);
    given.into_iter().flatten().cloned().collect()
}

/// The options.
pub(crate) fn command() -> Command {
    Command::new("script")
        .about("Show every sample of a recording as text")
        .args(arguments::input::arguments())
        .arg(
            Arg::new("fields")
                .short('F')
                .long("fields")
                .value_name("str")
                .allow_hyphen_values(true)
                .action(ArgAction::Append)
                .help("Fields to show, comma separated; +FIELD and -FIELD change the default (comm,tid,pid,time,cpu,event,trace,ip,sym,dso,addr,symoff,period,weight,phys_addr,flags,synth,insn,insnlen,ipc,brstack,callindent,disasm,srcline,srccode,unwind,misc,brstacksym,brstackoff,brstackinsn,brstackinsnlen,brstackdisasm,dsoff,iregs,uregs,cgroup)"),
        )
        .arg(Arg::new("hide-call-graph").short('G').long("hide-call-graph").action(ArgAction::SetTrue).help("Show the sampled address only, not its callers"))
        .arg(Arg::new("max-stack").long("max-stack").value_name("n").value_parser(clap::value_parser!(usize)).default_value("127").help("Most callers to show"))
        .arg(arguments::stitch::argument())
        .arg(max_blocks_argument())
        .arg(Arg::new("max-events").long("max-events").value_name("n").value_parser(clap::value_parser!(u64)).help("Show no more than N samples"))
        .arg(time_flag("Latency", "Show names of threads in eight columns").short('L'))
        .arg(time_flag("per-event-dump", "Write the samples of each event to a file of its own: RECORDING.EVENT.dump"))
        .arg(Arg::new("ns").long("ns").action(ArgAction::SetTrue).help("Show times with nine decimals"))
        .arg(time_flag("reltime", "Show times since the first sample"))
        .arg(time_flag("deltatime", "Show times since the sample before"))
        .arg(Arg::new("merge-callchains").long("merge-callchains").action(ArgAction::SetTrue).help("Join call chains whose user part was recorded apart; on by default"))
        .arg(Arg::new("no-merge-callchains").long("no-merge-callchains").action(ArgAction::SetTrue).overrides_with("merge-callchains").help("Show the parts of such call chains where they were recorded"))
        .args(check_arguments())
        .next_help_heading("For programs")
        .args(form_arguments())
        .args(program_arguments())
        .arg(list_argument())
        .arg(gen_script_argument())
        .next_help_heading("Which samples")
        .args(arguments::filter::arguments())
        .args(function_arguments())
        .args(arguments::switching::arguments())
        .args(dlfilter_arguments())
        .next_help_heading("Other records")
        .args(record_arguments())
        .args(dump::script_arguments())
        .next_help_heading("Hardware trace")
        .args(arguments::itrace::arguments(ItraceOptions::SCRIPT_LETTERS))
        .args(option_aliases::arguments())
        .arg(call_tree_argument())
        .next_help_heading("The header")
        .args(header::arguments())
        .next_help_heading("Names")
        .args(arguments::symbols::arguments())
}

/// Checks, and switches that change nothing: everything is reported that perf would report with them.
fn check_arguments() -> [Arg; 4] {
    [
        Arg::new("all-cpus")
            .long("all-cpus")
            .short('a')
            .action(ArgAction::SetTrue)
            .hide(true),
        time_flag("debug-mode", "Show no samples, but what is wrong with them").short('d'),
        Arg::new("verbose")
            .long("verbose")
            .short('v')
            .action(ArgAction::SetTrue)
            .hide(true),
        Arg::new("show-kernel-path")
            .long("show-kernel-path")
            .action(ArgAction::SetTrue)
            .hide(true),
    ]
}

fn form_arguments() -> [Arg; 3] {
    [
        Arg::new("format")
            .long("format")
            .value_name("form")
            .value_parser(["text", "jsonl", "csv"])
            .default_value("text")
            .help("What samples become: text, jsonl (one JSON object a line: docs/jsonl.md), csv"),
        time_flag("json", "The same as --format jsonl").conflicts_with("csv"),
        time_flag("csv", "The same as --format csv"),
    ]
}

fn time_flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// The options that choose functions.
fn function_arguments() -> [Arg; 5] {
    let list = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .value_name("symbol[,symbol...]")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(help)
    };
    [
        list("symbols", "Show these functions only, comma separated; addresses such as 0x401000 are those of functions or of samples").short('S'),
        list("dsos", "Show samples of these objects only, comma separated"),
        list("stop-bt", "End call chains with these functions"),
        Arg::new("addr-range")
            .long("addr-range")
            .value_name("n")
            .value_parser(value_parser!(u64))
            .help("With -S ADDRESS: show the samples of so many bytes from there on"),
        list(
            "graph-function",
            "Show only calls of these functions and what is called in them; for the call options below",
        ),
    ]
}

/// An option, its help and the records that it shows.
type RecordChoice = (&'static str, &'static str, &'static [RecordType]);

const RECORDS: [RecordChoice; 9] = [
    (
        "show-task-events",
        "Show when threads begin, end and take names",
        &[RecordType::COMM, RecordType::FORK, RecordType::EXIT],
    ),
    (
        "show-mmap-events",
        "Show mappings",
        &[RecordType::MMAP, RecordType::MMAP2],
    ),
    (
        "show-switch-events",
        "Show context switches",
        &[RecordType::SWITCH, RecordType::SWITCH_CPU_WIDE],
    ),
    (
        "show-namespace-events",
        "Show namespaces",
        &[RecordType::NAMESPACES],
    ),
    ("show-cgroup-events", "Show cgroups", &[RecordType::CGROUP]),
    (
        "show-lost-events",
        "Show where records were lost",
        &[RecordType::LOST],
    ),
    (
        "show-bpf-events",
        "Show kernel symbols and BPF programs that come and go",
        &[RecordType::KSYMBOL, RecordType::BPF_EVENT],
    ),
    (
        "show-text-poke-events",
        "Show changes of kernel code",
        &[RecordType::TEXT_POKE],
    ),
    (
        "show-round-events",
        "Show where the recorder emptied its rings; everything then comes in the order of the file",
        &[RecordType::FINISHED_ROUND],
    ),
];

fn record_arguments() -> impl Iterator<Item = Arg> {
    RECORDS.iter().map(|(name, help, _)| {
        Arg::new(*name)
            .long(*name)
            .action(ArgAction::SetTrue)
            .help(*help)
    })
}

fn max_blocks_argument() -> Arg {
    Arg::new("max-blocks")
        .long("max-blocks")
        .value_name("n")
        .value_parser(value_parser!(usize))
        .help("With -F brstackinsn: show the code between no more than N branches")
}

fn dlfilter_arguments() -> [Arg; 3] {
    [
        Arg::new("dlfilter")
            .long("dlfilter")
            .value_name("file")
            .help("Show the samples that a shared object with perf's dlfilter interface keeps"),
        Arg::new("dlarg")
            .long("dlarg")
            .value_name("argument")
            .allow_hyphen_values(true)
            .action(ArgAction::Append)
            .requires("dlfilter")
            .help("An argument for the filter; again for more"),
        Arg::new("list-dlfilters")
            .long("list-dlfilters")
            .action(ArgAction::SetTrue)
            .help("List the filters in this folder with what they say of themselves"),
    ]
}

fn program_arguments() -> [Arg; 2] {
    [
        Arg::new("script")
            .short('s')
            .long("script")
            .value_name("name")
            .help("Run a program that reads the events from its standard input, one JSON object a line (docs/jsonl.md); .py runs with python3, .pl with perl, LANGUAGE:FILE with LANGUAGE"),
        Arg::new("script-args")
            .value_name("args")
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .help("Arguments of the program"),
    ]
}

fn list_argument() -> Arg {
    Arg::new("list")
        .short('l')
        .long("list")
        .action(ArgAction::SetTrue)
        .help("List the programs in this folder that -s could run: scripts, with their first line of comment")
}

fn gen_script_argument() -> Arg {
    Arg::new("gen-script").short('g').long("gen-script").value_name("lang").help(
        "Write a program to begin with, perf-script.py or .pl, with a function for each event; -s runs it",
    )
}

fn call_tree_argument() -> Arg {
    Arg::new("call-tree")
        .long("call-tree")
        .value_name("words")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help("Show the calls in hardware trace, each with its time, instructions and cycles: depth:N folds what is deeper, functions adds up by function, json is for programs")
}
