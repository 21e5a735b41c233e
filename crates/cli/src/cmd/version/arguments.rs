//! The options of `version`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::arguments::flag;

/// The options. Other words are taken and mean nothing, as in perf.
pub(super) fn command() -> Command {
    Command::new("version")
        .about("Show the version and what this build can do")
        .args([
            Arg::new("build-options")
                .long("build-options")
                .action(ArgAction::SetTrue)
                .help("Show the features by perf's names, and which of them are here"),
            Arg::new("words").num_args(0..).hide(true),
        ])
}

/// `true` if the features are asked for.
pub(super) fn wants_features(matches: &ArgMatches) -> bool {
    flag(matches, "build-options")
}
