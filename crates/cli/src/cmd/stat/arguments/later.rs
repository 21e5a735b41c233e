//! Options of perf's that are refused in words until they are here.

use clap::{Arg, ArgAction, ArgMatches};

use super::super::problem::StatProblem;

/// An option that is not here yet.
struct Later {
    long: &'static str,
    short: Option<char>,
    takes_value: bool,
    /// What can be done until then.
    instead: &'static str,
}

const fn plain(long: &'static str, instead: &'static str) -> Later {
    Later {
        long,
        short: None,
        takes_value: false,
        instead,
    }
}

const fn with_value(long: &'static str, instead: &'static str) -> Later {
    Later {
        takes_value: true,
        ..plain(long, instead)
    }
}

const NO_METRICS: &str = "leave the option out";

const LATER: &[Later] = &[
    plain("percore-show-thread", "count with -A"),
    plain("iostat", "name the events of uncore_iio with -e"),
    plain("record-tpebs", NO_METRICS),
    with_value("tpebs-mode", NO_METRICS),
];

/// These options, hidden from the help.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    LATER.iter().map(argument)
}

fn argument(later: &Later) -> Arg {
    let mut argument = Arg::new(later.long).long(later.long).hide(true);
    if let Some(letter) = later.short {
        argument = argument.short(letter);
    }
    if later.takes_value {
        argument.value_name("value").allow_hyphen_values(true)
    } else {
        argument.action(ArgAction::Count)
    }
}

/// Refuses the first of them that was given.
pub(super) fn refuse(matches: &ArgMatches) -> Result<(), StatProblem> {
    let given = |later: &&Later| crate::arguments::is_given(matches, later.long);
    match LATER.iter().find(given) {
        Some(later) => Err(StatProblem::later(later.long, later.instead)),
        None => Ok(()),
    }
}
