//! The options of `check`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::CheckOptions;
use crate::arguments::flag;

/// The options.
pub(super) fn command() -> Command {
    Command::new("check")
        .about("Check whether this build has a feature, by perf's names")
        .args([
            Arg::new("quiet")
                .long("quiet")
                .short('q')
                .action(ArgAction::SetTrue)
                .help("Answer by the exit code alone: 0 if all features are here, else 1"),
            Arg::new("words").num_args(0..),
        ])
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> CheckOptions {
    let words = matches.get_many::<String>("words").unwrap_or_default();
    CheckOptions {
        quiet: flag(matches, "quiet"),
        words: words.cloned().collect(),
    }
}
