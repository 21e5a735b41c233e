//! The options of `symbols`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_itrace::ItraceOptions;

use super::SymbolsOptions;
use crate::arguments::{self, input, itrace, symbols};
use crate::configuration::Configuration;

/// The options.
pub(super) fn command() -> Command {
    Command::new("symbols")
        .about("Tell for each binary of a recording where its names come from, and what to do where there are none")
        .arg(Arg::new("file").value_name("file").help("The recording [default: perf.data]"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("Write JSON"))
        .args(input::arguments())
        .args(itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(symbols::arguments())
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> SymbolsOptions {
    let mut recording = arguments::recording(matches, configuration);
    recording.input = input::options_or_file(matches, "file");
    SymbolsOptions {
        recording,
        json: matches.get_flag("json"),
    }
}
