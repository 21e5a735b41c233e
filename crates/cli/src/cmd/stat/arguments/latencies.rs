//! The options about latencies of retirement (`-e EVENT:R`).

use clap::{Arg, ArgMatches};
use oxperf_capture::count::{LatencyChoice, LatencyOptions};

use super::super::problem::StatProblem;
use crate::arguments::kinds::{switch, value};
use crate::arguments::text;

/// The options.
pub(super) fn arguments() -> [Arg; 2] {
    [
        switch("record-tpebs").help(
            "Sample the whole system for the latencies of retirement of events with the modifier R, where the CPU tells them",
        ),
        value("tpebs-mode", "mode")
            .help("Which latency of retirement is shown: mean, min, max or last [default: mean]"),
    ]
}

/// The values of the options.
///
/// # Errors
/// A mode that is none.
pub(super) fn options(matches: &ArgMatches) -> Result<LatencyOptions, StatProblem> {
    let choice = match text(matches, "tpebs-mode") {
        None | Some("mean") => LatencyChoice::Mean,
        Some("min") => LatencyChoice::Minimum,
        Some("max") => LatencyChoice::Maximum,
        Some("last") => LatencyChoice::Last,
        Some(other) => return Err(StatProblem::latency_mode(other)),
    };
    Ok(LatencyOptions {
        samples: matches.get_flag("record-tpebs"),
        choice,
    })
}
