//! `script`: every sample as text.

mod blocks;
mod branches;
mod by_place;
mod call_tree;
mod cgroups;
mod checks;
mod clock;
mod crew;
mod csv;
mod disassembly;
mod dlfilter;
mod dumps;
mod feed;
mod gaps;
mod head;
mod instructions;
mod line_text;
mod lines;
mod memo;
mod objects;
mod places;
mod printer;
mod programs;
mod registers;
mod shorthand;
mod sideband;
mod sink;
mod skeleton;
mod source_text;
mod sourced;
mod symbols;
mod time_of_day;
mod traced;
mod view;

use std::io::Write;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_abi::{EventType, RecordType, SampleType, SoftwareId};
use oxperf_data::{Container, FeatureId, Reader};
use oxperf_itrace::{Images, ItraceOptions};
use oxperf_present::dump::Consumer;
use oxperf_present::script::{EventClass, FieldSet, FieldSpec};
use oxperf_resolve::{ChainLosses, ChainOptions, Chains, Names};
use oxperf_session::{EventTable, SessionEvent};

use super::dump;
use crate::failure::{Failure, code};
use crate::filter::{self, Filter};
use crate::input::{self, Input, report_chains, report_trouble};
use crate::itrace::places::code_places;
use crate::itrace::{self, Decoding};
use crate::output::{Output, print_error};
use crate::switching::{self, Switching};
use crate::{collect, guests, header, naming, stitch};
use clock::Clock;
use dlfilter::DlFilter;
use instructions::{CodeReader, shows_code};
use objects::{ObjectForm, PlaceNames};
use printer::{Form, Printer, PrinterOptions};
use sideband::Shown;
use sourced::Sourcing;
use symbols::Symbols;
use time_of_day::TimeOfDay;

/// The options.
pub(crate) fn command() -> Command {
    Command::new("script")
        .about("Show every sample of a recording as text")
        .args(input::arguments())
        .arg(
            Arg::new("fields")
                .short('F')
                .long("fields")
                .value_name("[TYPE:]FIELDS")
                .allow_hyphen_values(true)
                .action(ArgAction::Append)
                .help("Fields to show, comma separated; +FIELD and -FIELD change the default (comm,tid,pid,time,cpu,event,trace,ip,sym,dso,addr,symoff,period,weight,phys_addr,flags,synth,insn,insnlen,ipc,brstack,callindent,disasm,srcline,srccode,unwind,misc,brstacksym,brstackoff,brstackinsn,brstackinsnlen,brstackdisasm,dsoff,iregs,uregs,cgroup)"),
        )
        .arg(Arg::new("hide-call-graph").short('G').long("hide-call-graph").action(ArgAction::SetTrue).help("Show the sampled address only, not its callers"))
        .arg(Arg::new("max-stack").long("max-stack").value_name("N").value_parser(clap::value_parser!(usize)).default_value("127").help("Most callers to show"))
        .arg(stitch::argument())
        .arg(instructions::argument())
        .arg(Arg::new("max-events").long("max-events").value_name("N").value_parser(clap::value_parser!(u64)).help("Show no more than N samples"))
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
        .args(feed::arguments())
        .arg(programs::argument())
        .arg(skeleton::argument())
        .next_help_heading("Which samples")
        .args(filter::arguments())
        .args(symbols::arguments())
        .args(switching::arguments())
        .args(dlfilter::arguments())
        .next_help_heading("Other records")
        .args(sideband::arguments())
        .args(dump::script_arguments())
        .next_help_heading("Hardware trace")
        .args(itrace::arguments(ItraceOptions::SCRIPT_LETTERS))
        .args(shorthand::arguments())
        .arg(call_tree::argument())
        .next_help_heading("The header")
        .args(header::arguments())
        .next_help_heading("Names")
        .args(naming::arguments())
}

/// The refusal of the time of day where no clock is known by it.
const NO_TIME_OF_DAY: &str =
    "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option.";

/// What is checked, and switches that change nothing: everything is told that perf would tell with them.
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
            .value_name("FORM")
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

/// Runs `script`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    if matches.get_flag("list-dlfilters") {
        dlfilter::list()?;
        return Ok(code::SUCCESS);
    }
    if matches.get_flag("list") {
        programs::list()?;
        return Ok(code::SUCCESS);
    }
    let Some((reading, output)) = feed::start(matches)? else {
        return run_to(matches, crate::output::stdout());
    };
    show(matches, output, true)?;
    reading.wait()
}

/// Runs `script` and writes to `output`.
pub(crate) fn run_to(matches: &ArgMatches, output: Output) -> Result<i32, Failure> {
    show(matches, output, false)
}

/// Writes the samples; `is_read` when a program of the user's reads them.
fn show(matches: &ArgMatches, mut output: Output, is_read: bool) -> Result<i32, Failure> {
    if matches.get_flag("reltime") && matches.get_flag("deltatime") {
        return Err(Failure::new(
            "--reltime and --deltatime tell the same times in two ways: give one of them",
        ));
    }
    let spec =
        shorthand::fields(matches).map_err(|error| Failure::bad_option(error.to_string()))?;
    let shorthand = shorthand::given(matches);
    let own = shorthand.map_or(ItraceOptions::SCRIPT, |shorthand| shorthand.itrace());
    let mut itrace_options = itrace::options(matches, own)?;
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    // A stream tells of itself as it comes.
    let told = reader.container() == Container::Stream && matches.get_flag("show-info");
    if matches.get_flag("header") || matches.get_flag("header-only") || told {
        header::write(&mut output, &input, &reader, matches.get_flag("show-info"))?;
        // It stands whatever is refused behind it.
        output.flush()?;
    }
    if matches.get_flag("header-only") {
        output.finish()?;
        return Ok(code::SUCCESS);
    }
    filter::require_cpus(matches, reader.events())?;
    // Whatever is wrong there, perf has one exit code for it in this command.
    let names = naming::source(matches, &reader).map_err(|why| Failure::new(why.to_string()))?;
    let names = Arc::new(names);
    if matches.contains_id("call-tree") {
        return call_tree::run(matches, (&input, &reader), output, &*names);
    }
    let formatters = collect::formatters(&reader);
    if let Some(language) = skeleton::language(matches)? {
        skeleton::write(language, &EventTable::new(&reader), &formatters)?;
        return Ok(code::SUCCESS);
    }
    let progress = input.progress(true);
    let mut shown = Shown::from_matches(matches);
    let mut session = dump::session(matches, &reader)
        .observed_by(&progress)
        .knowing_guests(&guests::known(matches))
        .with_jit_logs(naming::places(matches));
    if matches.get_flag("no-merge-callchains") {
        session = session.leaving_chains_open();
        shown.add(RecordType::CALLCHAIN_DEFERRED);
    }
    if reader.features().bits().contains(FeatureId::AUXTRACE) {
        // Trace is decoded behind the end of its threads, too.
        session = session.keeping_exited_threads();
    }
    if matches.get_flag("debug-mode") {
        return checks::run(&input, session);
    }
    let time_of_day = TimeOfDay::of(&reader);
    let mut classes = session
        .events()
        .events()
        .iter()
        .map(|event| EventClass::of(event.attr.kind));
    if time_of_day.is_none() && classes.any(|class| spec.fields(class).contains(FieldSet::TOD)) {
        return Err(Failure::new(NO_TIME_OF_DAY));
    }
    if shown.contains(RecordType::FINISHED_ROUND) {
        session = session.in_file_order();
    }
    let filter = Filter::from_matches(matches, &reader)?;
    let symbols = Symbols::from_matches(matches);
    if let Some(options) = &mut itrace_options {
        options.stacks.thread_stack |=
            spec.any_has(FieldSet::CALLINDENT) || symbols.asks_for_graph();
    }
    let traced = itrace_options.filter(|_| !dump::is_asked(matches));
    let takes_cpu = |cpu| filter.takes_cpu(Some(cpu));
    let mut decoding =
        Decoding::prepare(matches, traced, (&input, &reader), &mut session, &takes_cpu)?;
    if let Some(decoding) = decoding.as_mut().filter(|_| shows_code(&spec)) {
        decoding.set_with_code();
    }
    if spec.any_has(FieldSet::METRIC) {
        print_error("no metrics are shown: what they are made of is in tables of a CPU's events");
    }
    instructions::require_branches(&spec, &reader, session.events())?;
    let with_chains = !matches.get_flag("hide-call-graph");
    let refuse = |missing: String| match reader.container() {
        Container::Stream => Failure::invalid(missing),
        _ => Failure::new(missing),
    };
    require_silenced(&spec, session.events()).map_err(Failure::new)?;
    let mut spec = recorded_fields(spec, session.events(), decoding.is_some()).map_err(refuse)?;
    if with_chains {
        show_chains(
            &mut spec,
            session.events(),
            reader.events().len(),
            reader.container(),
        );
    }
    let form = form(matches, is_read, &spec);
    if let Some(decoding) = &mut decoding {
        let counts = spec.any_has(FieldSet::IPC) || !matches!(form, Form::Text | Form::Dumps(_));
        decoding.leave_out(&filter, counts);
    }
    let code = CodeReader::new(matches, &spec, &reader, || {
        Images::new(code_places(matches, &input, &reader))
    });
    let options = PrinterOptions {
        spec,
        with_chains,
        adds_chains: decoding.is_some()
            && itrace_options.is_some_and(|options| options.stacks.add_callchain),
        chains: chains(matches, &reader, with_chains),
        nanoseconds: matches.get_flag("ns") || shorthand.is_some(),
        narrow: matches.get_flag("Latency"),
        sourcing: Sourcing {
            inlines: naming::inlines(matches),
            whole_paths: matches.get_flag("full-source-path"),
        },
        filter,
        symbols,
        object_width: shorthand.map_or(0, |shorthand| shorthand.object_width),
        shown,
        clock: clock(matches),
        time_of_day,
        dumper: dump::dumper(matches, &input, &reader, session.events(), Consumer::Script),
        live: reader.container() == Container::Stream,
        switching: Switching::from_matches(matches, session.events())?,
        most: matches.get_one("max-events").copied(),
        dlfilter: DlFilter::start(matches, || {
            Images::new(code_places(matches, &input, &reader))
        })?,
        form,
        architecture: dump::architecture(&reader),
        code,
    };
    let events = (session.events(), reader.endian());
    let named = Arc::new(Names::new(Arc::clone(&names)));
    let mut printer = Printer::new(output, options, events, &formatters, named);
    printer.begin(matches, (&input, &reader), session.events())?;
    let finished = match decoding {
        Some(decoding) => decoding.run(session, (&input, &reader), &mut printer)?,
        None => session
            .run(&mut printer)
            .map_err(|error| input.refuse(&error))?,
    };
    drop(progress);
    printer.end(&finished);
    let losses = match printer.finish() {
        // Who reads the events may have seen enough.
        Err(failure) if is_read && failure.is_closed_pipe() => ChainLosses::default(),
        finished => finished?,
    };
    naming::keep(&names);
    let mut diagnostics = finished.diagnostics;
    if matches.get_flag("show-lost-events") {
        // Each of them was told in its place.
        diagnostics.lost_chunks = 0;
    }
    report_trouble(&diagnostics);
    report_chains(&losses);
    naming::report_nameless(names.otherwise());
    Ok(code::SUCCESS)
}

/// What samples become.
fn form(matches: &ArgMatches, is_read: bool, spec: &FieldSpec) -> Form {
    let named = matches
        .get_one::<String>("format")
        .map_or("text", String::as_str);
    if is_read || matches.get_flag("json") || named == "jsonl" {
        let (inlines, lines) = (naming::inlines(matches), spec.any_has(FieldSet::SRCLINE));
        return Form::Objects(PlaceNames::new(ObjectForm { inlines, lines }));
    }
    if matches.get_flag("csv") || named == "csv" {
        Form::Rows
    } else {
        Form::Text
    }
}

/// What finds the callers of samples.
fn chains(matches: &ArgMatches, reader: &Reader<'_>, with_chains: bool) -> Chains {
    let max_stack = matches.get_one("max-stack").copied().unwrap_or(127);
    let unwinder = with_chains
        .then(|| naming::unwinder(naming::places(matches), reader))
        .flatten();
    let stitch = stitch::registers(matches, reader);
    Chains::new(
        ChainOptions {
            max_stack,
            stitch,
            ..ChainOptions::default()
        },
        unwinder,
    )
}

fn clock(matches: &ArgMatches) -> Clock {
    match (matches.get_flag("reltime"), matches.get_flag("deltatime")) {
        (true, _) => Clock::SinceFirst(None),
        (_, true) => Clock::SincePrevious(None),
        _ => Clock::Recorded,
    }
}

/// The fields that need a part of the sample, and what that part is called, in the order in which perf misses them.
const NEEDED: [(FieldSet, SampleType, &str, &str); 16] = [
    (FieldSet::IP, SampleType::IP, "IP", "ip"),
    (FieldSet::ADDR, SampleType::ADDR, "ADDR", "addr"),
    (
        FieldSet::DATA_SRC,
        SampleType::DATA_SRC,
        "DATA_SRC",
        "data_src",
    ),
    (FieldSet::WEIGHT, SampleType::WEIGHT, "WEIGHT", "weight"),
    (FieldSet::TID, SampleType::TID, "TID", "tid"),
    (FieldSet::PID, SampleType::TID, "TID", "pid"),
    (FieldSet::TIME, SampleType::TIME, "TIME", "time"),
    (FieldSet::CPU, SampleType::CPU, "CPU", "cpu"),
    (FieldSet::IREGS, SampleType::REGS_INTR, "IREGS", "iregs"),
    (FieldSet::UREGS, SampleType::REGS_USER, "UREGS", "uregs"),
    (
        FieldSet::PHYS_ADDR,
        SampleType::PHYS_ADDR,
        "PHYS_ADDR",
        "phys_addr",
    ),
    (
        FieldSet::DATA_PAGE_SIZE,
        SampleType::DATA_PAGE_SIZE,
        "DATA_PAGE_SIZE",
        "data_page_size",
    ),
    (
        FieldSet::CODE_PAGE_SIZE,
        SampleType::CODE_PAGE_SIZE,
        "CODE_PAGE_SIZE",
        "code_page_size",
    ),
    (
        FieldSet::INS_LAT,
        SampleType::WEIGHT_STRUCT,
        "WEIGHT_STRUCT",
        "ins_lat",
    ),
    (FieldSet::CGROUP, SampleType::CGROUP, "CGROUP", "cgroup"),
    (
        FieldSet::RETIRE_LAT,
        SampleType::WEIGHT_STRUCT,
        "WEIGHT_STRUCT",
        "retire_lat",
    ),
];

/// The fields that trace may tell of samples whose events were not recorded with them.
const TRACED: [FieldSet; 5] = [
    FieldSet::ADDR,
    FieldSet::DATA_SRC,
    FieldSet::WEIGHT,
    FieldSet::PHYS_ADDR,
    FieldSet::IREGS,
];

/// Leaves out what was not recorded; says so when it was asked for by name. As in perf, the first event of each type
/// stands for all, and with hardware trace some fields may be asked for everywhere.
fn recorded_fields(
    mut spec: FieldSpec,
    events: &EventTable,
    traced: bool,
) -> Result<FieldSpec, String> {
    let mut seen = Vec::new();
    for event in events.events().iter().filter(|event| !is_dummy(event)) {
        let own =
            event.attr.kind <= EventType::BREAKPOINT || event.attr.kind == EventType::SYNTHETIC;
        let kind = own.then_some(event.attr.kind);
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let class = EventClass::of(event.attr.kind);
        for (field, part, part_name, field_name) in NEEDED {
            if !spec.fields(class).contains(field) || has_part(event, part) {
                continue;
            }
            if traced && TRACED.contains(&field) && spec.demanded(class).contains(field) {
                continue;
            }
            if spec.demanded(class).contains(field) {
                return Err(format!(
                    "Samples for '{}' event do not have {part_name} attribute set. Cannot print '{field_name}' field.",
                    event.name
                ));
            }
            spec.drop_field(class, field);
        }
        complete(&mut spec, class)?;
        if !traced && spec.fields(class) == FieldSet::FLAGS {
            spec.drop_field(class, FieldSet::FLAGS);
        }
    }
    Ok(spec)
}

/// Events that nothing is to be shown of have to be there.
fn require_silenced(spec: &FieldSpec, events: &EventTable) -> Result<(), String> {
    let shown = || events.events().iter().filter(|event| !is_dummy(event));
    let is_there = |class| shown().any(|event| EventClass::of(event.attr.kind) == class);
    let missing = [
        EventClass::Hardware,
        EventClass::Software,
        EventClass::Tracepoint,
        EventClass::Raw,
        EventClass::Breakpoint,
    ]
    .into_iter()
    .find(|&class| spec.is_silenced(class) && !is_there(class));
    match missing {
        Some(class) => Err(format!(
            "{} events do not exist. Remove corresponding -F option to proceed.",
            class.name()
        )),
        None => Ok(()),
    }
}

/// Lines of source code need an address of code, and distances from an object's start stand behind its name.
fn complete(spec: &mut FieldSpec, class: EventClass) -> Result<(), String> {
    let fields = spec.fields(class);
    let lines = [FieldSet::SRCLINE, FieldSet::SRCCODE]
        .into_iter()
        .any(|field| fields.contains(field));
    if lines && !fields.contains(FieldSet::IP) {
        return Err(
            "Display of source line number requested but sample IP is not\n\
                    selected. Hence, no address to lookup the source line number."
                .to_owned(),
        );
    }
    if fields.contains(FieldSet::DSOFF) {
        spec.add_fields(class, FieldSet::DSO);
    }
    Ok(())
}

/// Shows where the callers of samples with call chains are. When the events come as a stream, or are made of hardware
/// trace, perf shows address and
/// symbol of each, whatever fields were asked for.
fn show_chains(spec: &mut FieldSpec, events: &EventTable, recorded: usize, container: Container) {
    let chained = events
        .events()
        .iter()
        .enumerate()
        .filter(|(_, event)| has_part(event, SampleType::CALLCHAIN));
    for (index, event) in chained {
        let streamed = container == Container::Stream || index >= recorded;
        match (EventClass::of(event.attr.kind), streamed) {
            (class, true) => spec.add_fields(class, FieldSet::IP | FieldSet::SYM),
            (EventClass::Tracepoint, _) => spec.show_places_of_tracepoints(),
            _ => {}
        }
    }
}

fn is_dummy(event: &SessionEvent) -> bool {
    let id = SoftwareId::from_config(event.attr.config)
        .filter(|_| event.attr.kind == EventType::SOFTWARE);
    id == Some(SoftwareId::Dummy)
}

fn has_part(event: &SessionEvent, part: SampleType) -> bool {
    let recorded = event.attr.sample_type;
    recorded.contains(part)
        || part == SampleType::WEIGHT && recorded.contains(SampleType::WEIGHT_STRUCT)
}
