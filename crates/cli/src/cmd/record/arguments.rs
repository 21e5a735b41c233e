//! The options of `record`: each defined once, with its help, and read into typed options.

mod course;
mod draining;
mod existing;
mod files;
mod sampling;
mod trace;

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_capture::{
    BuildIdPolicy, Destination, OutputOptions, Privilege, Program, RecordOptions, RecordedSides,
    SamplingOptions, Target, TargetOptions, system,
};
use oxperf_objects::Debuginfod;
use oxperf_sys::process;

use sampling::EXCLUDE_PERF;

use super::behind::BehindProblem;
use super::delay::Delay;
use super::messages::Verbosity;
use super::target::TargetTexts;
use super::{ArgumentProblem, Performed, RecordCommand, target, values};
use crate::arguments::Invocation;
use crate::arguments::behind::{BehindEvents, behind_events};
use crate::arguments::kinds::{switch, value};
use crate::arguments::symbols::debuginfod_argument;
use crate::cmd::kvm::GuestRecording;
use crate::configuration::Configuration;
use crate::environment;
use crate::event_tables;
use crate::failure::Failure;

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
        .args(sampling::event_arguments())
        .arg(event_tables::arguments::option())
        .args(sampling::sample_arguments())
        .args(trace::options())
        .next_help_heading("Whom to record")
        .args(target_arguments())
        .next_help_heading("What was there before")
        .args(existing::arguments())
        .next_help_heading("The file")
        .args(file_arguments())
        .args(files::options())
        .args(draining::options())
        .next_help_heading("The course")
        .args(course::options())
        .next_help_heading("Messages")
        .args([
            flag("quiet", 'q').long("quiet").help("Print no messages but errors"),
            value("realtime", "n").short('r').help("Let the recorder run before all programs without such a priority, from 1 to 99"),
            switch("dry-run").help("Check the options and events, and record nothing"),
            flag("verbose", 'v').long("verbose").action(ArgAction::Count).help("Also print what is opened; twice: each call that opens it; three times: which ring its records go to"),
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

fn target_arguments() -> [Arg; 7] {
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
        value("uid", "user")
            .short('u')
            .help("The processes that a user runs now, by name or number"),
        value("cgroup", "name")
            .short('G')
            .action(ArgAction::Append)
            .help("Tasks of this control group alone, on the CPUs of -a or -C; a list is for the events before it, one by one"),
        switch("per-thread")
            .help("One ring a thread in place of one a CPU; children are not sampled"),
    ]
}

fn file_arguments() -> [Arg; 6] {
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
        debuginfod_argument(),
        flag("no-buildid-cache", 'N').help("Keep no copies of the binaries in ~/.debug"),
    ]
}

/// Runs `record`; the exit code is the workload's. A workload that a signal ended ends this program by the same.
pub(crate) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    let command = match parse(matches, &invocation.configuration) {
        Ok(command) => about_guests(command, invocation.guests.as_ref()),
        Err(problem) => return problem.report(),
    };
    match super::perform(&command, &invocation.program)? {
        Performed::Recorded(outcome) => super::end_as(&outcome),
        Performed::Nothing(exit) => Ok(exit),
    }
}

/// Adds what `kvm` says of guests, whose kernels are described where they are recorded.
fn about_guests(mut command: RecordCommand, guests: Option<&GuestRecording>) -> RecordCommand {
    let Some(guests) = guests else {
        return command;
    };
    command.sides = guests.sides;
    if guests.sides.has_guests() {
        command.options.synthesis.guests = guests.files.clone();
    }
    command
}

/// Reads the arguments.
pub(in crate::cmd) fn parse(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<RecordCommand, ArgumentProblem> {
    existing::check(matches)?;
    let workload = workload(matches);
    let per_thread = matches.get_flag("per-thread");
    let (target, mut warnings) = target::target(TargetTexts {
        pids: text(matches, "pid"),
        tids: text(matches, "tid"),
        user: text(matches, "uid"),
        cpus: text(matches, "cpu"),
        all_cpus: matches.get_flag("all-cpus"),
        per_thread,
        has_workload: workload.is_some(),
    })?;
    if matches.get_flag("latency") && target == Target::AllCpus {
        let message = "Failed: latency profiling is not supported with system-wide collection.";
        return Err(ArgumentProblem::Contradiction(message.to_owned()));
    }
    let mut sampling = sampling::options(matches, configuration)?;
    let mut remarks = sampling::remarks(matches, &sampling);
    remarks.extend(sampling::chains_beside_branches(&mut sampling));
    let is_cpu_wide = target.is_cpu_wide();
    let delay = text(matches, "delay").map_or_else(|| Ok(Delay::none()), Delay::parse)?;
    let target = TargetOptions {
        target,
        workload,
        inherit: !matches.get_flag("no-inherit"),
        per_thread,
        privilege: privilege(matches),
        start: delay.start,
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
            windows: delay.windows,
            sampling,
            trace: trace::read(matches, configuration)?,
            synthesis: existing::options(matches, configuration)?,
            realtime_priority: realtime_priority(matches)?,
            output,
            draining,
            sysfs: environment::sysfs(),
            open_log: environment::open_log(),
        },
        events: events(matches),
        conditions: conditions(matches)?,
        cgroups: cgroups(matches, is_cpu_wide)?,
        sides: RecordedSides::Unasked,
        dry_run: matches.get_flag("dry-run"),
        tables: event_tables::arguments::options(matches, configuration),
        warnings,
        remarks,
        verbosity: verbosity(matches),
        switch_events: text(matches, "switch-output-event").map(str::to_owned),
        control: course::control(matches)?,
        strict_loss: matches.get_flag("strict-loss"),
        build_id_cache,
        debuginfod: debuginfod(matches, configuration),
    })
}

/// Bytes of a ring with the page that says how far it is filled.
fn ring_bytes(sampling: &SamplingOptions) -> u64 {
    let pages = sampling
        .ring_pages
        .unwrap_or_else(system::default_ring_pages);
    (pages.saturating_add(1) as u64).saturating_mul(process::page_size() as u64)
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

/// What tracepoints must meet, in the order of the words: `--filter`, and `--exclude-perf`.
fn conditions(matches: &ArgMatches) -> Result<Vec<BehindEvents>, ArgumentProblem> {
    let mut own = behind_events(matches, EXCLUDE_PERF);
    for condition in &mut own {
        if !condition.text.is_empty() {
            let message = format!(" Error: option `{EXCLUDE_PERF}' takes no value");
            return Err(ArgumentProblem::Value(message));
        }
        condition.text = format!("common_pid != {}", std::process::id());
    }
    own.extend(behind_events(matches, "filter"));
    own.sort_by_key(|condition| condition.place);
    Ok(own)
}

fn cgroups(matches: &ArgMatches, is_cpu_wide: bool) -> Result<Vec<BehindEvents>, ArgumentProblem> {
    let lists = behind_events(matches, "cgroup");
    if lists.iter().any(|list| list.events_before == 0) {
        let message = BehindProblem::NoEvents.to_string();
        return Err(ArgumentProblem::Value(message));
    }
    match lists.is_empty() || is_cpu_wide {
        true => Ok(lists),
        false => Err(ArgumentProblem::Value(
            "  Error: cgroup monitoring only available in system-wide mode".to_owned(),
        )),
    }
}

fn verbosity(matches: &ArgMatches) -> Verbosity {
    match matches.get_count("verbose") {
        _ if matches.get_flag("quiet") => Verbosity::Quiet,
        0 => Verbosity::Normal,
        1 => Verbosity::Verbose,
        2 => Verbosity::Calls,
        _ => Verbosity::Rings,
    }
}

/// The servers that `--debuginfod` names, else `record.debuginfod`: a list, `system` for those of the environment, `no`.
fn debuginfod(matches: &ArgMatches, configuration: &Configuration) -> Option<Debuginfod> {
    let given = crate::arguments::debuginfod(matches);
    given.or_else(|| match configuration.text("record.debuginfod")? {
        "no" => None,
        "system" => environment::debuginfod(""),
        servers => environment::debuginfod(servers),
    })
}

/// The priority of the recorder; 0 is none.
fn realtime_priority(matches: &ArgMatches) -> Result<Option<i32>, ArgumentProblem> {
    let priority = text(matches, "realtime").map(|text| values::integer(text, "switch `r'"));
    Ok(priority.transpose()?.filter(|priority| *priority != 0))
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
