//! The options of `stat`: each defined once, with its help, and read into typed options.

mod latencies;
mod metrics;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use oxperf_analysis::counts::CountGrouping;
use oxperf_capture::count::CountOptions;
use oxperf_capture::{Privilege, Program, Start, Target, TargetOptions};
use oxperf_present::counts::{CountForm, CountSubject};

use super::diff;
use super::options::{CgroupChoice, CountOutput, Repeats, Rounds, StatCommand};
use super::problem::StatProblem;
use super::root_ports::PortChoice;
use super::runs::RunsOptions;
use super::{record as stat_record, report};
use crate::arguments::behind::behind_events;
use crate::arguments::kinds::{switch, value};
use crate::arguments::{Invocation, text};
use crate::cmd::Entry;
use crate::cmd::control::ControlSource;
use crate::cmd::record::target::{self, TargetTexts};
use crate::configuration::Configuration;
use crate::environment;
use crate::event_tables;
use crate::failure::Failure;
use crate::output::print_error;

const EXAMPLES: &str = "\
Examples:
  oxperf stat -e task-clock,page-faults ls      what a program did, and how long it took
  oxperf stat -r 10 -e instructions ./program   the mean of ten runs, and how much they differ
  oxperf stat -a -I 1000 -e context-switches    what the whole machine does, every second";

/// The commands below this one.
const BELOW: [Entry; 3] = [stat_record::ENTRY, report::ENTRY, diff::ENTRY];

/// The options.
pub(super) fn command() -> Command {
    options_of(Command::new("stat"))
        .about("Count events of a program, of processes or of the whole machine")
        .after_help(EXAMPLES)
        .override_usage("oxperf stat [OPTIONS] [--] [COMMAND [ARGS]...]\n       oxperf stat [OPTIONS] -a | -p PID | -t TID\n       oxperf stat record | report")
        .subcommands(BELOW.map(|entry| (entry.command)().args_override_self(true)))
        .disable_help_subcommand(true)
}

/// A command with the options of counting.
pub(super) fn options_of(command: Command) -> Command {
    command
        .args_override_self(true)
        .next_help_heading("What to count")
        .args(event_arguments())
        .args(metrics::arguments())
        .args(latencies::arguments())
        .arg(event_tables::arguments::option())
        .next_help_heading("Whom to count")
        .args(target_arguments())
        .next_help_heading("When to count")
        .args(time_arguments())
        .next_help_heading("What to add up")
        .args(grouping_arguments())
        .arg(switch("percore-show-thread").help(
            "With -A: show the sum of a core on each of its CPUs, of events with the term percore",
        ))
        .next_help_heading("The output")
        .args(output_arguments())
        .next_help_heading("Runs for later")
        .args(runs_arguments())
        .arg(
            Arg::new("workload")
                .value_name("command")
                .num_args(1..)
                .trailing_var_arg(true)
                .value_parser(value_parser!(OsString))
                .help("Program to run, with its arguments; counting ends with it"),
        )
}

fn event_arguments() -> [Arg; 9] {
    [
        value("event", "event")
            .short('e')
            .action(ArgAction::Append)
            .help("Event to count, may be repeated: cycles, task-clock, page-faults, sched:sched_switch, cpu/event=0x3c/; modifiers after a colon, groups in braces"),
        value("filter", "filter")
            .action(ArgAction::Append)
            .help("Count the tracepoints of the -e before it only where their fields are so: 'prev_pid != 0'"),
        Arg::new("iostat")
            .long("iostat")
            .value_name("ports")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("default")
            .help("The traffic of PCI root ports, of all or of those named DOMAIN:BUS; =list names them [Intel servers]"),
        switch("null").short('n').help("Count nothing, only take the time"),
        switch("all-user").conflicts_with("all-kernel").help("Count in user mode only"),
        switch("all-kernel").help("Count in kernel mode only"),
        switch("no-inherit").short('i').help("Do not count children of the target"),
        switch("scale").overrides_with("no-scale").help("Scale counts up for the time in which an event had no counter [default]"),
        switch("no-scale").help("Show counts as the counters have them, though they did not count all the time"),
    ]
}

fn target_arguments() -> [Arg; 6] {
    [
        switch("all-cpus")
            .short('a')
            .help("Everything on all CPUs [default without a program]"),
        value("cpu", "cpu")
            .short('C')
            .help("Everything on these CPUs, such as 0,2-3"),
        value("pid", "pid")
            .short('p')
            .help("Running processes, comma separated"),
        value("tid", "tid")
            .short('t')
            .help("Running threads, comma separated"),
        value("cgroup", "name")
            .short('G')
            .action(ArgAction::Append)
            .help("Control groups of the events before it, one each, comma separated; one alone is that of all"),
        value("for-each-cgroup", "name")
            .help("Every event in each of these control groups; comma separated, or basic regular expressions"),
    ]
}

fn time_arguments() -> [Arg; 11] {
    [
        value("delay", "n")
            .short('D')
            .help("Start counting so many milliseconds after the program; -1 leaves counting off"),
        value("interval-print", "n")
            .short('I')
            .help("Show what was counted every so many milliseconds"),
        value("interval-count", "n").help("End after so many intervals"),
        value("control", "source")
            .help("Obey commands that come line by line from fd:COMMANDS[,ANSWERS] or fifo:COMMANDS[,ANSWERS]: enable, disable, either with the name of an event; evlist, ping, stop"),
        value("timeout", "n").help("End after so many milliseconds"),
        value("repeat", "n").short('r').help(
            "Run the program so often and show means with their deviation; 0 repeats for ever",
        ),
        value("pre", "command").help("Shell command to run before each run of the program"),
        value("post", "command").help("Shell command to run after each run of the program"),
        switch("sync")
            .short('S')
            .help("Write out what the kernel has not written yet before each run"),
        switch("affinity")
            .overrides_with("no-affinity")
            .help("Go to each CPU to read its counters, where there are several [default]"),
        switch("no-affinity").help("Read the counters of all CPUs from where this program runs"),
    ]
}

pub(super) fn grouping_arguments() -> [Arg; 9] {
    [
        switch("no-aggr")
            .short('A')
            .help("Every CPU and every PMU by itself"),
        switch("no-merge").help("The same as --no-aggr"),
        switch("per-socket").help("Add up by processor socket"),
        switch("per-die").help("Add up by processor die"),
        switch("per-cluster").help("Add up by processor cluster"),
        Arg::new("per-cache")
            .long("per-cache")
            .value_name("cache level")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .help("Add up by instance of this cache level [default: the last]"),
        switch("per-core").help("Add up by physical core"),
        switch("per-node").help("Add up by NUMA node"),
        switch("per-thread").help("Every thread by itself"),
    ]
}

pub(super) fn output_arguments() -> [Arg; 14] {
    [
        switch("big-num")
            .short('B')
            .overrides_with("no-big-num")
            .help("Group the digits of large numbers as the locale has it [default]"),
        switch("no-big-num").help("Do not group digits"),
        value("field-separator", "separator")
            .short('x')
            .help("Fields with this between them, \\t for a tab, in place of a table"),
        switch("json-output")
            .short('j')
            .help("JSON, an object a line"),
        value("output", "file")
            .short('o')
            .value_parser(value_parser!(PathBuf))
            .help("File to write to"),
        switch("append").help("Append to the file"),
        value("log-fd", "n").help("Descriptor to write to, in place of standard error"),
        switch("table").help("List the time of every run, with -r"),
        switch("summary").help("Show the sums below the intervals, too"),
        switch("no-csv-summary").help("Leave the word summary out of fields below intervals"),
        switch("graph")
            .help("Draw a line for each event over the last intervals, with -I on a terminal"),
        switch("interval-clear").help("Clear the screen before every interval"),
        switch("quiet").help("Show nothing"),
        switch("verbose")
            .short('v')
            .action(ArgAction::Count)
            .help("Also say what is opened and read"),
    ]
}

fn runs_arguments() -> [Arg; 3] {
    [
        value("json-runs", "file")
            .value_parser(value_parser!(PathBuf))
            .help("Also write every run to a file, as one JSON document: docs/stat-json.md tells what it holds"),
        value("compare", "file")
            .value_parser(value_parser!(PathBuf))
            .help("Show the runs beside those that --json-runs kept in this file: means, differences, and whether they are more than chance"),
        diff::arguments::fail_over().requires("compare"),
    ]
}

/// Runs `stat`; the exit code is the workload's.
pub(super) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(entry) = BELOW.into_iter().find(|entry| entry.name == name)
    {
        return (entry.run)(matches, invocation);
    }
    match parse(matches, &invocation.configuration) {
        Ok(command) => super::perform(&command, &invocation.program),
        Err(problem) => Ok(report(&problem, &invocation.program)),
    }
}

/// Prints a fault in the options, with those that it is about; gives the exit code.
pub(super) fn report(problem: &StatProblem, program: &str) -> i32 {
    report_below(&command(), &["stat"], problem, program)
}

/// Prints a fault in the options of a command, given by its words.
pub(super) fn report_below(
    command: &Command,
    path: &[&str],
    problem: &StatProblem,
    program: &str,
) -> i32 {
    let mut message = problem.message.clone();
    if !problem.options.is_empty() {
        let about: Vec<String> = problem
            .options
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        let path: Vec<String> = path.iter().map(|word| (*word).to_owned()).collect();
        let forms = crate::usage::forms(command, program, &path);
        message = format!("{message}\n{}", crate::usage::text(command, &forms, &about));
    }
    print_error(message.trim_end_matches('\n'));
    problem.code
}

/// The options of counting as values.
pub(super) fn parse(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<StatCommand, StatProblem> {
    let words = workload_words(matches);
    let (mut target, warnings) = target(matches, &words)?;
    let root_ports = text(matches, "iostat").map(PortChoice::of_text);
    let tells_usage = target.target == Target::Workload;
    if tells_usage && root_ports.is_some() {
        // Root ports know of no programs.
        target.target = Target::AllCpus;
    }
    let grouping = grouping(matches)?;
    let lists_all_threads = grouping == CountGrouping::Thread && target.target == Target::AllCpus;
    let form = form(matches)?;
    let subject = match subject(matches, &words) {
        CountSubject::Command(_) if root_ports.is_some() => CountSubject::System,
        subject => subject,
    };
    let rounds = rounds(matches)?;
    let output = output(matches)?;
    // These forms have no place for thresholds.
    let mut wishes = metrics::wishes(matches)?;
    wishes.no_threshold |= match &form {
        CountForm::Csv { .. } => true,
        CountForm::Json => wishes.alone,
        CountForm::Text => false,
    };
    let command = StatCommand {
        options: CountOptions {
            target,
            interval: rounds.interval,
            interval_count: rounds.count,
            timeout: rounds.timeout,
            stays_on_cpu: matches.get_flag("no-affinity"),
            sysfs: environment::sysfs(),
            to_stream: false,
            latencies: latencies::options(matches)?,
        },
        open_log: environment::open_log(),
        events: events(matches),
        root_ports,
        filters: behind_events(matches, "filter"),
        control: control(matches)?,
        cgroups: cgroups(matches)?,
        metrics: wishes,
        tables: event_tables::arguments::options(matches, configuration),
        counts_nothing: matches.get_flag("null"),
        repeats: repeats(matches)?,
        lists_runs: matches.get_flag("table"),
        lists_all_threads,
        grouping,
        shows_core_sums_on_cpus: matches.get_flag("percore-show-thread"),
        merges_pmus: !matches.get_flag("no-merge") && !matches.get_flag("no-aggr"),
        scales: !matches.get_flag("no-scale"),
        form,
        groups_digits: !matches.get_flag("no-big-num"),
        output,
        subject,
        tells_usage,
        shows_summary: matches.get_flag("summary"),
        names_summary: !matches.get_flag("no-csv-summary"),
        clears_screen: matches.get_flag("interval-clear"),
        draws_graph: matches.get_flag("graph"),
        is_quiet: matches.get_flag("quiet"),
        verbosity: matches.get_count("verbose"),
        syncs: matches.get_flag("sync"),
        before: text(matches, "pre").map(str::to_owned),
        after: text(matches, "post").map(str::to_owned),
        to_terminal: environment::error_is_terminal(),
        cpu_list: text(matches, "cpu").map(str::to_owned),
        runs: runs(matches)?,
        warnings: warnings.into_iter().chain(rounds.warnings).collect(),
        recording: None,
    };
    command.check()?;
    Ok(command)
}

fn events(matches: &ArgMatches) -> Vec<String> {
    let texts = matches.get_many::<String>("event");
    texts.into_iter().flatten().cloned().collect()
}

/// Where commands come from.
fn control(matches: &ArgMatches) -> Result<Option<ControlSource>, StatProblem> {
    let source = |text| ControlSource::parse(text).ok_or_else(|| StatProblem::bad_control(text));
    text(matches, "control").map(source).transpose()
}

/// The control groups; a list belongs to the events before it.
fn cgroups(matches: &ArgMatches) -> Result<CgroupChoice, StatProblem> {
    let for_each = text(matches, "for-each-cgroup").map(str::to_owned);
    let lists = behind_events(matches, "cgroup");
    match for_each {
        Some(_) if !lists.is_empty() => Err(StatProblem::cgroups_twice()),
        Some(list) => Ok(CgroupChoice::ForEach(list)),
        None if lists.is_empty() => Ok(CgroupChoice::None),
        None => Ok(CgroupChoice::OfEvents(lists)),
    }
}

fn workload_words(matches: &ArgMatches) -> Vec<OsString> {
    let words = matches.get_many::<OsString>("workload");
    words.into_iter().flatten().cloned().collect()
}

fn target(
    matches: &ArgMatches,
    words: &[OsString],
) -> Result<(TargetOptions, Vec<String>), StatProblem> {
    let (target, warnings) = target::target(TargetTexts {
        pids: text(matches, "pid"),
        tids: text(matches, "tid"),
        user: None,
        cpus: text(matches, "cpu"),
        all_cpus: matches.get_flag("all-cpus"),
        per_thread: false,
        has_workload: !words.is_empty(),
    })
    .map_err(StatProblem::of_target)?;
    let target = TargetOptions {
        target,
        workload: workload(words),
        inherit: !matches.get_flag("no-inherit"),
        per_thread: matches.get_flag("per-thread"),
        privilege: privilege(matches),
        start: start(matches)?,
    };
    Ok((target, warnings))
}

fn workload(words: &[OsString]) -> Option<Program> {
    (!words.is_empty()).then(|| Program {
        arguments: words.to_vec(),
        environment: environment::variables(),
        search_path: environment::search_path(),
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

fn start(matches: &ArgMatches) -> Result<Start, StatProblem> {
    let milliseconds = number::<i64>(matches, "delay")?;
    Ok(match milliseconds {
        None | Some(0) => Start::Now,
        Some(delay) if delay < 0 => Start::Disabled,
        Some(delay) => Start::After(Duration::from_millis(delay.unsigned_abs())),
    })
}

/// The intervals, and what is said about short ones.
fn rounds(matches: &ArgMatches) -> Result<Rounds, StatProblem> {
    let milliseconds = |name: &str| {
        let number = number::<u64>(matches, name)?.filter(|number| *number > 0);
        Ok(number.map(Duration::from_millis))
    };
    Rounds::new(
        milliseconds("interval-print")?,
        number::<u32>(matches, "interval-count")?.filter(|count| *count > 0),
        milliseconds("timeout")?,
    )
}

fn repeats(matches: &ArgMatches) -> Result<Repeats, StatProblem> {
    match number::<i64>(matches, "repeat")? {
        None => Ok(Repeats::Times(1)),
        Some(0) => Ok(Repeats::ForEver),
        Some(times) => match u32::try_from(times) {
            Ok(times) => Ok(Repeats::Times(times)),
            Err(_) => Err(StatProblem::contradiction(
                "Run count must be a positive number",
                &["--repeat"],
            )),
        },
    }
}

/// The number that an option has.
fn number<T: std::str::FromStr>(
    matches: &ArgMatches,
    name: &str,
) -> Result<Option<T>, StatProblem> {
    let parse = |text: &str| {
        let number = text.trim_start().parse();
        number.map_err(|_| StatProblem::no_number(name))
    };
    text(matches, name).map(parse).transpose()
}

/// What is added up, everything where no option says it; of several options the last of this list counts.
pub(super) fn grouping(matches: &ArgMatches) -> Result<CountGrouping, StatProblem> {
    let cache = text(matches, "per-cache").map(cache_level).transpose()?;
    let flag = |name: &str, grouping| matches.get_flag(name).then_some(grouping);
    let given = [
        flag("per-node", CountGrouping::Node),
        flag("per-socket", CountGrouping::Socket),
        flag("per-die", CountGrouping::Die),
        flag("per-cluster", CountGrouping::Cluster),
        cache.map(CountGrouping::Cache),
        flag("per-core", CountGrouping::Core),
        flag("per-thread", CountGrouping::Thread),
        flag("no-aggr", CountGrouping::Cpu),
        flag("no-merge", CountGrouping::Cpu),
    ];
    let last = given.into_iter().flatten().last();
    Ok(last.unwrap_or(CountGrouping::All))
}

/// `l2`, `L2`; the last level without any.
fn cache_level(text: &str) -> Result<Option<u32>, StatProblem> {
    if text.is_empty() {
        return Ok(None);
    }
    let level = text
        .strip_prefix(['l', 'L'])
        .and_then(|level| level.parse().ok());
    match level {
        Some(level @ 1..=4) => Ok(Some(level)),
        _ => Err(StatProblem::cache_level(text)),
    }
}

pub(super) fn form(matches: &ArgMatches) -> Result<CountForm, StatProblem> {
    let separator = text(matches, "field-separator");
    if matches.get_flag("json-output") {
        return Ok(CountForm::Json);
    }
    match separator {
        Some(_) if matches.get_flag("big-num") => Err(StatProblem::contradiction(
            "-B option not supported with -x",
            &["--big-num", "--field-separator"],
        )),
        Some(separator) => Ok(CountForm::Csv {
            separator: if separator == "\\t" { "\t" } else { separator }.to_owned(),
        }),
        None => Ok(CountForm::Text),
    }
}

pub(super) fn output(matches: &ArgMatches) -> Result<CountOutput, StatProblem> {
    let (file, fd) = (
        matches.get_one::<PathBuf>("output"),
        number::<i32>(matches, "log-fd")?,
    );
    match (file, fd) {
        (Some(_), Some(_)) => Err(StatProblem::contradiction(
            "cannot use both --output and --log-fd",
            &["--output", "--log-fd"],
        )),
        (Some(path), None) => Ok(CountOutput::File {
            path: path.clone(),
            appends: matches.get_flag("append"),
        }),
        (None, Some(number)) => Ok(CountOutput::Descriptor {
            number,
            appends: matches.get_flag("append"),
        }),
        (None, None) => Ok(CountOutput::StandardError),
    }
}

fn runs(matches: &ArgMatches) -> Result<RunsOptions, StatProblem> {
    let file = |name| matches.get_one::<PathBuf>(name).cloned();
    Ok(RunsOptions {
        file: file("json-runs"),
        baseline: file("compare"),
        limit: diff::arguments::limit(matches).map_err(StatProblem::bad_value)?,
    })
}

fn subject(matches: &ArgMatches, words: &[OsString]) -> CountSubject {
    let list = |name| text(matches, name).map(str::to_owned);
    let shown = |word: &OsString| word.to_string_lossy().into_owned();
    if let Some(list) = list("pid") {
        CountSubject::Processes(list)
    } else if let Some(list) = list("tid") {
        CountSubject::Threads(list)
    } else if matches.get_flag("all-cpus") {
        CountSubject::System
    } else if let Some(list) = list("cpu") {
        CountSubject::Cpus(list)
    } else if words.is_empty() {
        CountSubject::System
    } else {
        CountSubject::Command(words.iter().map(shown).collect())
    }
}

/// The options of these words behind `stat`.
#[cfg(test)]
pub(super) fn parse_words(words: &[&str]) -> Result<StatCommand, StatProblem> {
    let words = [&["stat"], words].concat();
    let matches = command()
        .try_get_matches_from(words)
        .expect("words that can be read");
    parse(&matches, &Configuration::default())
}
