//! The options of what is written of tasks that exist before a recording.

use clap::{Arg, ArgMatches};
use oxperf_capture::SynthesisOptions;

use super::text;
use crate::arguments::kinds::value;
use crate::cmd::record::{ArgumentProblem, values};

/// The options.
pub(super) fn options() -> [Arg; 3] {
    [
        value("synth", "no|all|task|mmap|cgroup")
            .help("Which records to write of what exists before: tasks, their mappings, control groups; commas between [default: all]"),
        value("num-thread-synthesize", "n")
            .help("Threads that read the tasks that exist before [default: one a core]"),
        value("proc-map-timeout", "ms")
            .help("Leave out the rest of a process's mappings after so long [default: read all]"),
    ]
}

/// What the options choose.
pub(super) fn chosen(matches: &ArgMatches) -> Result<SynthesisOptions, ArgumentProblem> {
    let threads = text(matches, "num-thread-synthesize").map(values::synthesis_threads);
    let map_timeout = text(matches, "proc-map-timeout").map(values::map_timeout);
    let options = SynthesisOptions {
        threads: threads.transpose()?,
        map_timeout: map_timeout.transpose()?,
        ..SynthesisOptions::default()
    };
    let Some(words) = text(matches, "synth") else {
        return Ok(options);
    };
    let invalid = || ArgumentProblem::Value(format!("Invalid synth option: {words}"));
    options.only(words).ok_or_else(invalid)
}
