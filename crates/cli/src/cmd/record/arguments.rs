//! The options of `record`: each defined once, with its help, and read into typed options.

mod course;
mod draining;
mod files;
mod synthesis;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_abi::{BranchSampleType, SampleType};
use oxperf_capture::{
    BuildIdPolicy, CallGraph, Destination, ExtraRecords, OutputOptions, Privilege, Program,
    RecordOptions, RegisterMask, SamplingOptions, Start, Target, TargetOptions, system,
};
use oxperf_sys::process;

use super::messages::Verbosity;
use super::target::TargetTexts;
use super::{ArgumentProblem, Performed, RecordCommand, target, values};
use crate::arguments::Invocation;
use crate::arguments::kinds::{switch, value};
use crate::configuration::Configuration;
use crate::environment;
use crate::event_tables;
use crate::failure::Failure;

/// Time off the CPU from which on each absence is a sample of its own.
const OFF_CPU_THRESHOLD: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Examples:
  oxperf record -g -- ./program         sample a program with its call chains
  oxperf record -a -- sleep 10          sample the whole machine for ten seconds
  oxperf record -p 1234                 sample a running process until Ctrl-C
  oxperf record -e page-faults -c 1 ls  a sample for every page fault

'oxperf report' shows the result as a table, 'oxperf script' every sample.";

/// The options.
pub(crate) fn command() -> Command {
    Command::new("record")
        .about("Record samples of a program, of processes or of the whole machine into perf.data")
        .after_help(EXAMPLES)
        .override_usage("oxperf record [OPTIONS] [--] [COMMAND [ARGS]...]\n       oxperf record [OPTIONS] -a | -p PID | -t TID")
        .args_override_self(true)
        .next_help_heading("What to record")
        .args(event_arguments())
        .arg(event_tables::arguments::option())
        .args(sample_arguments())
        .next_help_heading("Whom to record")
        .args(target_arguments())
        .next_help_heading("The file")
        .args(file_arguments())
        .args(files::options())
        .args(draining::options())
        .args(synthesis::options())
        .next_help_heading("The course")
        .args(course::options())
        .next_help_heading("Messages")
        .args([
            flag("quiet", 'q').long("quiet").help("Print no messages but errors"),
            switch("dry-run").help("Check the options and events, and record nothing"),
            flag("verbose", 'v').long("verbose").action(ArgAction::Count).help("Also print what is opened; twice: each call that opens it"),
        ])
        .arg(
            Arg::new("workload")
                .value_name("command")
                .num_args(1..)
                .trailing_var_arg(true)
                .value_parser(value_parser!(std::ffi::OsString))
                .help("Program to run, with its arguments; recording ends with it"),
        )
}

fn flag(name: &'static str, letter: char) -> Arg {
    switch(name).short(letter)
}

fn registers(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("any register")
        .num_args(0..=1)
        .require_equals(true)
        .help(help)
}

fn event_arguments() -> [Arg; 15] {
    [
        value("event", "event")
            .short('e')
            .action(ArgAction::Append)
            .help("Event to sample, may be repeated: cycles, cpu-clock, page-faults, L1-dcache-load-misses, sched:sched_switch, r1a8, cpu/event=0x3c/; modifiers after a colon (u user, k kernel, p precise), groups in braces [default: cycles:P]"),
        value("freq", "freq or 'max'").short('F').help("Samples a second of each CPU [default: 4000]"),
        value("count", "n").short('c').help("A sample every N events, in place of -F"),
        flag("call-chains", 'g').long(None).help("Record call chains by frame pointers"),
        switch("no-call-graph").overrides_with_all(["call-chains", "call-graph"]).help("Record no call chains"),
        value("call-graph", "record_mode[,record_size]")
            .help("Record call chains: fp[,MAX] follows frame pointers, at most MAX callers; dwarf[,BYTES] copies the stack into each sample, to be unwound by readers [default: 8192]; lbr takes them from the CPU"),
        flag("branch-any", 'b').help("Record the branches that the CPU took before each sample, of every kind"),
        value("branch-filter", "branch filter mask")
            .short('j')
            .help("Record branches of these kinds: any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, stack; at these privileges: u, k, hv; of each: no_flags, no_cycles, save_type, hw_index, priv, counter; commas between them"),
        registers("user-regs", "Registers of user space in each sample, all or those named; ? lists them"),
        registers("intr-regs", "Registers of the interrupted code in each sample"),
        switch("all-user").conflicts_with("all-kernel").help("Sample user mode only"),
        switch("all-kernel").help("Sample kernel mode only"),
        flag("no-inherit", 'i').help("Do not sample children of the target"),
        value("delay", "ms")
            .short('D')
            .help("Start sampling so many milliseconds after the program; -1 leaves sampling off"),
        value("mmap-pages", "pages[,pages]")
            .short('m')
            .help("Size of each ring in pages, or in bytes with B, K, M or G; larger rings lose fewer samples [default: 512K]"),
    ]
}

fn sample_arguments() -> [Arg; 13] {
    [
        flag("stat", 's').help("Also count each event in each thread, for report -T"),
        flag("no-samples", 'n')
            .help("Take no samples: only record which tasks and mappings there are"),
        switch("no-buffering").help("Wake up for every sample, not when a ring is half full"),
        flag("data", 'd')
            .help("Also record the addresses of data that samples point to, and mappings of data"),
        switch("phys-data").help("Also record the physical addresses of data"),
        flag("timestamp", 'T')
            .help("Also record the time of each sample where the target does not need it"),
        flag("period", 'P')
            .help("Also record the period of each sample where the rate does not need it"),
        flag("raw-samples", 'R').help("Also record the raw data of every event, and the CPU"),
        switch("sample-cpu").help("Also record the CPU of each sample"),
        switch("off-cpu").help("Also record where and how long threads do not run, as event offcpu-time"),
        value("off-cpu-thresh", "ms")
            .help("Time off the CPU from which on each is a sample of its own; shorter ones are added up [default: 500]"),
        switch("latency").help("Also record when threads run, for report --latency"),
        switch("no-bpf-event").help("Record no loading and unloading of BPF programs"),
    ]
}

fn target_arguments() -> [Arg; 5] {
    [
        flag("all-cpus", 'a').help("Everything on all CPUs [default without a program]"),
        value("cpu", "cpu")
            .short('C')
            .help("Everything on these CPUs, such as 0,2-3"),
        value("pid", "pid")
            .short('p')
            .help("Running processes, comma separated"),
        value("tid", "tid")
            .short('t')
            .help("Running threads, comma separated"),
        switch("per-thread")
            .help("One ring a thread in place of one a CPU; children are not sampled"),
    ]
}

fn file_arguments() -> [Arg; 5] {
    [
        value("output", "file")
            .short('o')
            .value_parser(value_parser!(PathBuf))
            .help("File to write; one that exists is renamed to FILE.old; - writes a stream to standard output, and the program's own output goes to standard error [default: perf.data]"),
        Arg::new("compression-level")
            .long("compression-level")
            .short('z')
            .value_name("n")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("1")
            .help("Compress the records with Zstandard, from 1 (fast) to 22 (small)"),
        flag("no-buildid", 'B').help("Write no table of the binaries' build ids"),
        switch("buildid-all").help("List the build ids of all binaries, not only of those with samples"),
        flag("no-buildid-cache", 'N').help("Keep no copies of the binaries in ~/.debug"),
    ]
}

/// Runs `record`; the exit code is the workload's. A workload that a signal ended ends this program by the same.
pub(crate) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    let command = match parse(matches, &invocation.configuration) {
        Ok(command) => command,
        Err(problem) => return problem.report(),
    };
    match super::perform(&command, &invocation.program)? {
        Performed::Recorded(outcome) => super::end_as(&outcome),
        Performed::Nothing(exit) => Ok(exit),
    }
}

/// Reads the arguments.
pub(in crate::cmd) fn parse(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<RecordCommand, ArgumentProblem> {
    let workload = workload(matches);
    let per_thread = matches.get_flag("per-thread");
    let (target, mut warnings) = target::target(TargetTexts {
        pids: text(matches, "pid"),
        tids: text(matches, "tid"),
        cpus: text(matches, "cpu"),
        all_cpus: matches.get_flag("all-cpus"),
        per_thread,
        has_workload: workload.is_some(),
    })?;
    if matches.get_flag("latency") && target == Target::AllCpus {
        let message = "Failed: latency profiling is not supported with system-wide collection.";
        return Err(ArgumentProblem::Contradiction(message.to_owned()));
    }
    let mut sampling = sampling_options(matches, configuration)?;
    warnings.extend(chains_beside_branches(&mut sampling));
    let target = TargetOptions {
        target,
        workload,
        inherit: !matches.get_flag("no-inherit"),
        per_thread,
        privilege: privilege(matches),
        start: text(matches, "delay").map_or(Ok(Start::Now), values::start)?,
    };
    let (draining, destination) = draining::draining(matches, destination(matches))?;
    let mut output = output_options(matches, configuration, destination)?;
    warnings.extend(files::apply(matches, ring_bytes(&sampling), &mut output)?);
    // Without a table nobody knows what to keep.
    let build_id_cache =
        kept_in(matches, configuration).filter(|_| output.build_ids != BuildIdPolicy::Off);
    Ok(RecordCommand {
        options: RecordOptions {
            target,
            sampling,
            output,
            draining,
            synthesis: synthesis::chosen(matches)?,
            sysfs: environment::sysfs(),
            open_log: environment::open_log(),
        },
        events: events(matches),
        dry_run: matches.get_flag("dry-run"),
        tables: event_tables::arguments::options(matches, configuration),
        warnings,
        verbosity: verbosity(matches),
        switch_events: text(matches, "switch-output-event").map(str::to_owned),
        control: course::control(matches)?,
        strict_loss: matches.get_flag("strict-loss"),
        build_id_cache,
    })
}

/// Bytes of a ring with the page that says how far it is filled.
fn ring_bytes(sampling: &SamplingOptions) -> u64 {
    let pages = sampling
        .ring_pages
        .unwrap_or_else(system::default_ring_pages);
    (pages.saturating_add(1) as u64).saturating_mul(process::page_size() as u64)
}

fn sampling_options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<SamplingOptions, ArgumentProblem> {
    let ring_pages = text(matches, "mmap-pages").map(values::ring_pages);
    Ok(SamplingOptions {
        rate: values::rate(text(matches, "freq"), text(matches, "count"))?,
        call_graph: call_graph(matches, configuration)?,
        branches: branches(matches)?,
        user_registers: asked_registers(matches, "user-regs")?,
        interrupted_registers: asked_registers(matches, "intr-regs")?,
        fields: fields(matches),
        off_cpu: off_cpu(matches)?,
        records: ExtraRecords {
            thread_counts: matches.get_flag("stat"),
            data_mappings: matches.get_flag("data"),
            context_switches: matches.get_flag("latency"),
            bpf_programs: !matches.get_flag("no-bpf-event"),
        },
        takes_samples: !matches.get_flag("no-samples"),
        unbuffered: matches.get_flag("no-buffering"),
        overwrite: matches.get_flag("overwrite"),
        ring_pages: ring_pages.transpose()?,
    })
}

/// The threshold of `--off-cpu`, where that is given.
fn off_cpu(matches: &ArgMatches) -> Result<Option<Duration>, ArgumentProblem> {
    let threshold = text(matches, "off-cpu-thresh").map(values::off_cpu_threshold);
    let threshold = threshold.transpose()?.unwrap_or(OFF_CPU_THRESHOLD);
    let wanted = matches.get_flag("off-cpu");
    if wanted && matches.contains_id("threads") {
        // An absence may begin in the ring of one CPU and end in that of another.
        let message = "--off-cpu needs all rings in one thread: it cannot stand beside --threads";
        return Err(ArgumentProblem::Contradiction(message.to_owned()));
    }
    Ok(wanted.then_some(threshold))
}

/// Fields of samples that options ask for.
fn fields(matches: &ArgMatches) -> SampleType {
    let options = [
        ("data", SampleType::ADDR | SampleType::DATA_SRC),
        ("phys-data", SampleType::PHYS_ADDR),
        ("timestamp", SampleType::TIME),
        ("period", SampleType::PERIOD),
        ("raw-samples", SampleType::RAW | SampleType::CPU),
        ("sample-cpu", SampleType::CPU),
    ];
    let asked = options
        .into_iter()
        .filter(|(name, _)| matches.get_flag(name));
    asked.fold(SampleType::default(), |all, (_, fields)| all | fields)
}

fn output_options(
    matches: &ArgMatches,
    configuration: &Configuration,
    destination: Destination,
) -> Result<OutputOptions, ArgumentProblem> {
    Ok(OutputOptions {
        destination,
        compression: compression(matches)?,
        build_ids: build_ids(matches, configuration),
        // It is for the recording.
        command_line: match matches.get_flag("dry-run") {
            true => Vec::new(),
            false => environment::command_line(),
        },
        ..OutputOptions::default()
    })
}

fn text<'a>(matches: &'a ArgMatches, name: &str) -> Option<&'a str> {
    matches.get_one::<String>(name).map(String::as_str)
}

fn events(matches: &ArgMatches) -> Vec<String> {
    let texts = matches.get_many::<String>("event");
    texts.into_iter().flatten().cloned().collect()
}

fn verbosity(matches: &ArgMatches) -> Verbosity {
    match matches.get_count("verbose") {
        _ if matches.get_flag("quiet") => Verbosity::Quiet,
        0 => Verbosity::Normal,
        1 => Verbosity::Verbose,
        _ => Verbosity::Calls,
    }
}

/// The cache that keeps the binaries, unless the user wants no table of them or no copies.
fn kept_in(matches: &ArgMatches, configuration: &Configuration) -> Option<PathBuf> {
    if matches.get_flag("no-buildid") || matches.get_flag("no-buildid-cache") {
        return None;
    }
    if let Some("no-cache" | "skip") = build_id_habit(configuration) {
        return None;
    }
    crate::arguments::build_id_cache(matches, configuration)
}

/// Only a `-` that somebody wrote stands for standard output: a pipe alone may wait for what the program prints.
fn destination(matches: &ArgMatches) -> Destination {
    match matches.get_one::<PathBuf>("output") {
        Some(path) if path.as_os_str() == "-" => Destination::StandardOutput,
        Some(path) => Destination::File(path.clone()),
        None => Destination::File(PathBuf::from("perf.data")),
    }
}

fn compression(matches: &ArgMatches) -> Result<Option<u32>, ArgumentProblem> {
    let level = text(matches, "compression-level").map(values::compression_level);
    Ok(level.transpose()?.filter(|&level| level > 0))
}

fn workload(matches: &ArgMatches) -> Option<Program> {
    let arguments: Vec<_> = matches
        .get_many::<std::ffi::OsString>("workload")?
        .cloned()
        .collect();
    let (environment, search_path) = (environment::variables(), environment::search_path());
    (!arguments.is_empty()).then_some(Program {
        arguments,
        environment,
        search_path,
    })
}

/// The call chains of `-g`, in the words of `--call-graph`: `record.call-graph`, else `call-graph.record-mode`, with
/// `call-graph.dump-size`.
fn usual_chains(configuration: &Configuration) -> String {
    let mode = configuration
        .text("record.call-graph")
        .or_else(|| configuration.text("call-graph.record-mode"))
        .unwrap_or("fp");
    match configuration.number("call-graph.dump-size") {
        Some(size) if mode == "dwarf" => format!("dwarf,{size}"),
        _ => mode.to_owned(),
    }
}

fn call_graph(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<CallGraph, ArgumentProblem> {
    match text(matches, "call-graph") {
        Some(mode) => values::call_graph(mode),
        None if matches.get_flag("call-chains") => values::call_graph(&usual_chains(configuration)),
        None => Ok(CallGraph::Off),
    }
}

fn branches(matches: &ArgMatches) -> Result<Option<BranchSampleType>, ArgumentProblem> {
    match (
        matches.get_flag("branch-any"),
        text(matches, "branch-filter"),
    ) {
        (true, Some(_)) => Err(ArgumentProblem::Value(
            "Can't use --branch-any (-b) with --branch-filter (-j).".to_owned(),
        )),
        (true, None) => Ok(Some(BranchSampleType::ANY)),
        (false, filters) => filters.map(values::branches).transpose(),
    }
}

/// The CPU keeps branches or calls: beside branches, chains come from frame pointers.
fn chains_beside_branches(sampling: &mut SamplingOptions) -> Option<String> {
    if sampling.branches.is_none() || sampling.call_graph != CallGraph::BranchRecords {
        return None;
    }
    sampling.call_graph = CallGraph::FramePointers { max_stack: None };
    Some("Cannot use LBR callstack with branch stack. Falling back to framepointers.".to_owned())
}

fn asked_registers(
    matches: &ArgMatches,
    option: &str,
) -> Result<Option<RegisterMask>, ArgumentProblem> {
    let asked = matches.contains_id(option);
    asked
        .then(|| values::registers(option, text(matches, option)))
        .transpose()
}

fn privilege(matches: &ArgMatches) -> Privilege {
    if matches.get_flag("all-user") {
        Privilege::UserOnly
    } else if matches.get_flag("all-kernel") {
        Privilege::KernelOnly
    } else {
        Privilege::AsEventSays
    }
}

/// `record.build-id`: `cache`, `no-cache` or `skip`.
fn build_id_habit(configuration: &Configuration) -> Option<&str> {
    configuration.text("record.build-id")
}

fn build_ids(matches: &ArgMatches, configuration: &Configuration) -> BuildIdPolicy {
    if matches.get_flag("no-buildid") {
        BuildIdPolicy::Off
    } else if matches.get_flag("buildid-all") {
        BuildIdPolicy::All
    } else if build_id_habit(configuration) == Some("skip") {
        BuildIdPolicy::Off
    } else {
        BuildIdPolicy::Hit
    }
}
