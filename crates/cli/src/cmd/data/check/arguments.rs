//! The options of `data check`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::CheckOptions;
use crate::arguments::input;

/// The options.
pub(super) fn command() -> Command {
    Command::new("check")
        .about("Say what a recording is, what of it is damaged, and what was lost")
        .args(input::arguments())
        .arg(
            Arg::new("json")
                .long("json")
                .action(ArgAction::SetTrue)
                .help("Answer as JSON"),
        )
        .arg(
            Arg::new("recording")
                .value_name("file")
                .conflicts_with("input")
                .help("Recording to check, as with -i"),
        )
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> CheckOptions {
    let mut named = ["recording", "input"].iter();
    let name = named.find_map(|option| matches.get_one::<String>(option));
    CheckOptions {
        input: input::options_or_file(matches, "recording"),
        name: name.cloned().unwrap_or_else(|| "perf.data".to_owned()),
        json: matches.get_flag("json"),
    }
}
