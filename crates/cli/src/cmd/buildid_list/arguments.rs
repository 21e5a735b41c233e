//! The options of `buildid-list`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{BuildIdListOptions, Subject};
use crate::arguments::{input, symbols};
use crate::configuration::Configuration;

/// The options.
pub(super) fn command() -> Command {
    Command::new("buildid-list")
        .about("List the binaries of a recording with their build ids")
        .args(input::arguments())
        .arg(flag(
            "with-hits",
            'H',
            "Only the binaries that have samples",
        ))
        .arg(flag(
            "kernel",
            'k',
            "Show the running kernel's build id, of no recording",
        ))
        .arg(flag(
            "kernel-maps",
            'm',
            "Show the running kernel and its modules with their addresses",
        ))
        .arg(flag("verbose", 'v', "Accepted for perf's sake").hide(true))
}

fn flag(name: &'static str, short: char, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .short(short)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> BuildIdListOptions {
    let subject = if matches.get_flag("kernel") {
        Subject::RunningKernel
    } else if matches.get_flag("kernel-maps") {
        Subject::KernelMaps
    } else {
        Subject::Recording
    };
    BuildIdListOptions {
        subject,
        input: input::options(matches),
        symbols: symbols::options(matches, configuration),
        with_hits: matches.get_flag("with-hits"),
    }
}
