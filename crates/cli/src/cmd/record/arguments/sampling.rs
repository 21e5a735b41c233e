//! The options that say what is sampled and what samples hold.

use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::{BranchSampleType, SampleType};
use oxperf_capture::{CallGraph, ChainParts, ExtraRecords, Rate, RegisterMask, SamplingOptions};

use super::super::{ArgumentProblem, values};
use super::{flag, text};
use crate::arguments::kinds::{switch, value};
use crate::configuration::Configuration;

/// Time off the CPU from which on each absence is a sample of its own.
const OFF_CPU_THRESHOLD: Duration = Duration::from_millis(500);

/// The option that takes no value but a place: it is about the events before it.
pub(super) const EXCLUDE_PERF: &str = "exclude-perf";

fn registers(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("any register")
        .num_args(0..=1)
        .require_equals(true)
        .help(help)
}

/// What is sampled, and how often.
pub(super) fn event_arguments() -> [Arg; 22] {
    [
        value("event", "event")
            .short('e')
            .action(ArgAction::Append)
            .help("Event to sample, may be repeated: cycles, cpu-clock, page-faults, L1-dcache-load-misses, sched:sched_switch, r1a8, cpu/event=0x3c/; modifiers after a colon (u user, k kernel, p precise), groups in braces [default: cycles:P]"),
        value("filter", "filter")
            .action(ArgAction::Append)
            .help("Expression over the fields of the tracepoints of the -e before it, as the kernel has them: only events that meet it are sampled; of hardware traces the code that they cover: filter|start|stop|tracestop PLACE [/ SIZE] [@FILE]"),
        Arg::new(EXCLUDE_PERF)
            .long(EXCLUDE_PERF)
            .action(ArgAction::Append)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .hide_possible_values(true)
            .help("Leave events of the recorder itself out of the tracepoints of the -e before it"),
        value("freq", "freq or 'max'").short('F').help("Samples a second of each CPU [default: 4000]"),
        switch("strict-freq").help("Record nothing where the system does not allow the frequency, in place of a lower one"),
        value("count", "n").short('c').help("A sample every N events, in place of -F"),
        flag("call-chains", 'g').long(None).help("Record call chains by frame pointers"),
        switch("no-call-graph").overrides_with_all(["call-chains", "call-graph"]).help("Record no call chains"),
        value("call-graph", "record_mode[,record_size]")
            .help("Record call chains: fp[,MAX] follows frame pointers, at most MAX callers; fp,defer lets the kernel hand in the callers in user space later; dwarf[,BYTES] copies the stack into each sample, to be unwound by readers [default: 8192]; lbr takes them from the CPU"),
        switch("kernel-callchains").help("Leave callers in user space out of call chains"),
        switch("user-callchains").help("Leave callers in the kernel out of call chains"),
        flag("branch-any", 'b').help("Record the branches that the CPU took before each sample, of every kind"),
        value("branch-filter", "branch filter mask")
            .short('j')
            .help("Record branches of these kinds: any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, stack; at these privileges: u, k, hv; of each: no_flags, no_cycles, save_type, hw_index, priv, counter; commas between them"),
        registers("user-regs", "Registers of user space in each sample, all or those named; ? lists them"),
        registers("intr-regs", "Registers of the interrupted code in each sample, all or those named; ? lists them").short('I'),
        value("clockid", "clockid")
            .short('k')
            .help("The clock of all times: monotonic, monotonic_raw, realtime, boottime, tai, or its number for clock_gettime"),
        switch("all-user").conflicts_with("all-kernel").help("Sample user mode only"),
        switch("all-kernel").help("Sample kernel mode only"),
        flag("no-inherit", 'i').help("Do not sample children of the target"),
        value("delay", "ms")
            .short('D')
            .help("Start sampling so many milliseconds after the program; -1 leaves sampling off; windows such as 10-20,30-40 sample at these times alone, and the recording ends with the last"),
        value("mmap-pages", "pages[,pages]")
            .short('m')
            .help("Size of each ring in pages, or in bytes with B, K, M or G; larger rings lose fewer samples [default: 512K]; behind a comma, the size of each AUX area, for hardware traces"),
        switch("running-time").help("Also record for how long the events of a group with :S counted"),
    ]
}

/// What samples hold beside what they need, and the records beside samples.
pub(super) fn sample_arguments() -> [Arg; 26] {
    [
        flag("stat", 's').help("Also count each event in each thread, for report -T"),
        flag("no-samples", 'n')
            .help("Take no samples: only record which tasks and mappings there are"),
        switch("no-buffering").help("Wake up for every sample, not when a ring is half full"),
        flag("data", 'd')
            .help("Also record the addresses of data that samples point to, and mappings of data"),
        switch("data-mmap").help("Also record mappings of data"),
        switch("phys-data").help("Also record the physical addresses of data"),
        switch("data-page-size")
            .help("Also record the size of the page of data that a sample points to"),
        switch("code-page-size")
            .help("Also record the size of the page of the code of each sample"),
        switch("sample-mem-info").help("Also record where the data of memory accesses came from"),
        flag("weight", 'W').help("Also record what memory accesses cost, in cycles"),
        switch("transaction").help("Also record how transactions of memory ended"),
        flag("timestamp", 'T')
            .overrides_with("no-timestamp")
            .help("Also record the time of each sample where the target does not need it"),
        switch("no-timestamp")
            .overrides_with("timestamp")
            .help("Record no times"),
        flag("period", 'P')
            .overrides_with("no-period")
            .help("Also record the period of each sample where the rate does not need it"),
        switch("no-period")
            .overrides_with("period")
            .help("Record no periods"),
        flag("raw-samples", 'R').help("Also record the raw data of every event, and the CPU"),
        switch("sample-cpu").help("Also record the CPU of each sample"),
        switch("sample-identifier")
            .help("Record what names its event at the same place of each sample"),
        switch("switch-events")
            .overrides_with("no-switch-events")
            .help("Also record when threads run"),
        switch("no-switch-events")
            .overrides_with("switch-events")
            .help("Do not record when threads run, as is done beside a hardware trace"),
        switch("namespaces").help("Also record the namespaces of tasks"),
        switch("all-cgroups").help("Also record control groups, and that of each sample"),
        switch("off-cpu").help("Also record where and how long threads do not run, as event offcpu-time"),
        value("off-cpu-thresh", "ms")
            .help("Time off the CPU from which on each is a sample of its own; shorter ones are added up [default: 500]"),
        switch("latency").help("Also record when threads run, for report --latency"),
        switch("no-bpf-event").help("Record no loading and unloading of BPF programs"),
    ]
}

/// Reads them.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<SamplingOptions, ArgumentProblem> {
    let pages = ring_pages(matches)?;
    Ok(SamplingOptions {
        rate: values::rate(text(matches, "freq"), text(matches, "count"))?,
        strict_rate: matches.get_flag("strict-freq"),
        call_graph: call_graph(matches, configuration)?,
        chain_parts: chain_parts(matches),
        branches: branches(matches)?,
        user_registers: asked_registers(matches, "user-regs")?,
        interrupted_registers: asked_registers(matches, "intr-regs")?,
        fields: fields(matches),
        left_out: left_out(matches),
        count_times: matches.get_flag("running-time"),
        clock: text(matches, "clockid").map(values::clock).transpose()?,
        off_cpu: off_cpu(matches)?,
        records: records(matches, configuration),
        takes_samples: !matches.get_flag("no-samples"),
        unbuffered: matches.get_flag("no-buffering"),
        overwrite: matches.get_flag("overwrite"),
        ring_pages: pages.records,
        traced: None,
    })
}

/// The sizes of `-m`.
pub(super) fn ring_pages(matches: &ArgMatches) -> Result<values::RingPages, ArgumentProblem> {
    let pages = text(matches, "mmap-pages").map(values::ring_pages);
    Ok(pages.transpose()?.unwrap_or_default())
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

fn records(matches: &ArgMatches, configuration: &Configuration) -> ExtraRecords {
    ExtraRecords {
        thread_counts: matches.get_flag("stat"),
        data_mappings: matches.get_flag("data") || matches.get_flag("data-mmap"),
        context_switches: matches.get_flag("latency") || matches.get_flag("switch-events"),
        bpf_programs: !matches.get_flag("no-bpf-event"),
        namespaces: matches.get_flag("namespaces"),
        cgroups: matches.get_flag("all-cgroups"),
        build_ids: names_by_build_id(matches, configuration),
    }
}

/// `--buildid-mmap`, else `record.build-id`.
fn names_by_build_id(matches: &ArgMatches, configuration: &Configuration) -> bool {
    let is_given = matches.get_flag("buildid-mmap");
    let habit = configuration.text("record.build-id");
    is_given || !matches.get_flag("no-buildid-mmap") && habit != Some("no-mmap")
}

/// Fields of samples that options ask for.
fn fields(matches: &ArgMatches) -> SampleType {
    let options = [
        ("data", SampleType::ADDR | SampleType::DATA_SRC),
        ("phys-data", SampleType::PHYS_ADDR),
        ("data-page-size", SampleType::DATA_PAGE_SIZE),
        ("code-page-size", SampleType::CODE_PAGE_SIZE),
        ("sample-mem-info", SampleType::DATA_SRC),
        ("weight", SampleType::WEIGHT_STRUCT),
        ("transaction", SampleType::TRANSACTION),
        ("sample-identifier", SampleType::IDENTIFIER),
        ("all-cgroups", SampleType::CGROUP),
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

/// Fields of samples that options take away.
fn left_out(matches: &ArgMatches) -> SampleType {
    let mut fields = SampleType::default();
    fields.set(SampleType::TIME, matches.get_flag("no-timestamp"));
    fields.set(SampleType::PERIOD, matches.get_flag("no-period"));
    fields
}

fn chain_parts(matches: &ArgMatches) -> ChainParts {
    ChainParts {
        kernel: !matches.get_flag("user-callchains"),
        user: !matches.get_flag("kernel-callchains"),
        deferred: text(matches, "call-graph").is_some_and(values::defers_chains),
    }
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
            "Error: Can't use --branch-any (-b) with --branch-filter (-j).".to_owned(),
        )),
        (true, None) => Ok(Some(BranchSampleType::ANY)),
        (false, filters) => filters.map(values::branches).transpose(),
    }
}

/// Choices that are made for the user: a rate by a word, a ring of another size.
pub(super) fn remarks(matches: &ArgMatches, sampling: &SamplingOptions) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Some(word), Some(Rate::Frequency(hertz))) = (text(matches, "freq"), sampling.rate)
        && word.eq_ignore_ascii_case("max")
    {
        remarks.push(format!(
            "info: Using a maximum frequency rate of {hertz} Hz"
        ));
    }
    remarks.extend(rounded_sizes(matches));
    remarks
}

/// Sizes of `-m` whose pages are no powers of two.
fn rounded_sizes(matches: &ArgMatches) -> Vec<String> {
    let asked = text(matches, "mmap-pages").unwrap_or_default().split(',');
    let pages = ring_pages(matches).unwrap_or_default();
    let rounded = |(asked, pages): (&str, Option<usize>)| {
        let count = values::asked_pages(asked)?;
        let pages = pages.filter(|pages| *pages != count)?;
        let size = values::ring_size(pages);
        Some(format!(
            "rounding mmap pages size to {size} ({pages} pages)"
        ))
    };
    asked
        .zip([pages.records, pages.areas])
        .filter_map(rounded)
        .collect()
}

/// The CPU keeps branches or calls: beside branches, chains come from frame pointers.
pub(super) fn chains_beside_branches(sampling: &mut SamplingOptions) -> Option<String> {
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
