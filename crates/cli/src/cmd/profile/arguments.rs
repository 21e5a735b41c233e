//! The options of `profile`: those of `record`, and the options of what is shown.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use oxperf_capture::{Target, TargetOptions, system};
use oxperf_sys::process;

use super::ProfileCommand;
use super::stacks::{self, Circumstances};
use crate::arguments::kinds::switch;
use crate::arguments::{Invocation, symbols};
use crate::cmd::record::{self, RecordCommand};
use crate::failure::Failure;
use crate::output::print_error;

const EXAMPLES: &str = "\
Examples:
  oxperf profile -- ./program ARGS       profile a program
  oxperf profile -p 1234                 profile a running process until Ctrl-C
  oxperf profile -a -- sleep 10          profile the whole machine for ten seconds";

/// Said where no command and no process is named.
const WHOLE_MACHINE: &str =
    "Profiling the whole machine until Ctrl-C. To profile a program: profile -- COMMAND [ARGS]...";

/// The options.
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
                .value_name("file")
                .value_parser(value_parser!(PathBuf))
                .default_value("flamegraph.html")
                .help("Where to write the flame graph"),
            Arg::new("top")
                .long("top")
                .value_name("n")
                .value_parser(value_parser!(usize))
                .default_value("20")
                .help("Functions in the table"),
            switch("no-runtime-options")
                .help("Start java and node as they are, without the options that make their stacks complete and name their functions"),
        ])
}

/// Runs `profile`; the exit code is the workload's.
pub(crate) fn run(matches: &ArgMatches, invocation: &Invocation) -> Result<i32, Failure> {
    let is_stream = matches
        .get_one::<PathBuf>("output")
        .is_some_and(|path| path.as_os_str() == "-");
    if is_stream {
        return Err(Failure::new(
            "profile reads what it recorded: give -o the name of a file",
        ));
    }
    let mut record = match record::parse(matches, &invocation.configuration) {
        Ok(record) => record,
        Err(problem) => return problem.report(),
    };
    if record.options.target.target == Target::AllCpus && record.options.target.workload.is_none() {
        print_error(WHOLE_MACHINE);
    }
    let title = title(&record.options.target);
    // Each absence with its time, for the page's time line, where nobody wants sums.
    if !matches.contains_id("off-cpu-thresh") {
        let threshold = &mut record.options.sampling.off_cpu;
        *threshold = threshold.map(|_| Duration::ZERO);
    }
    complete_stacks(matches, &mut record);
    let page = matches.get_one::<PathBuf>("html").cloned();
    let command = ProfileCommand {
        title,
        record,
        symbols: symbols::options(matches, &invocation.configuration),
        page: page.unwrap_or_default(),
        max_rows: matches.get_one("top").copied().unwrap_or(20),
    };
    super::perform(&command, &invocation.program)
}

/// Chooses how stacks are taken where the user does not say it, and tells in a line.
fn complete_stacks(matches: &ArgMatches, record: &mut RecordCommand) {
    let tell = |line: &str| {
        if !matches.get_flag("quiet") {
            print_error(line);
        }
    };
    if !names_stacks(matches) {
        let options = &mut record.options;
        let machine = circumstances(matches);
        tell(&stacks::choose(
            &options.target,
            &mut options.sampling,
            machine,
        ));
        // Stacks are alike.
        if options.sampling.call_graph.copies_stacks() && !matches.contains_id("compression-level")
        {
            options.output.compression = Some(1);
        }
    }
    if matches.get_flag("no-runtime-options") {
        return;
    }
    let workload = record.options.target.workload.as_mut();
    if let Some(line) = workload.and_then(stacks::prepare_runtime) {
        tell(&line);
    }
}

fn names_stacks(matches: &ArgMatches) -> bool {
    let switches = ["call-chains", "no-call-graph"];
    switches.into_iter().any(|name| matches.get_flag(name)) || matches.contains_id("call-graph")
}

fn circumstances(matches: &ArgMatches) -> Circumstances {
    Circumstances {
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
        large_rings: system::permissions().privileged,
        names_events: matches.contains_id("event"),
        page: process::page_size(),
    }
}

/// The command line of the workload.
fn title(target: &TargetOptions) -> String {
    let workload = target.workload.as_ref();
    let arguments = workload.map(|workload| workload.arguments.iter());
    let words: Vec<_> = arguments
        .into_iter()
        .flatten()
        .map(|word| word.to_string_lossy())
        .collect();
    if words.is_empty() {
        "the recorded processes".to_owned()
    } else {
        words.join(" ")
    }
}
