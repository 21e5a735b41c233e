//! The options of the process that a filter runs in.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::{HelperOptions, NAME};

/// The options: the filter, and whether it is to say what it is and no more.
pub(super) fn command() -> Command {
    Command::new(NAME)
        .hide(true)
        .about("Run a filter of script --dlfilter")
        .arg(
            Arg::new("filter")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("describe")
                .long("describe")
                .action(clap::ArgAction::SetTrue),
        )
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> HelperOptions {
    let filter = matches.get_one::<PathBuf>("filter");
    HelperOptions {
        filter: filter.cloned().unwrap_or_default(),
        describe: matches.get_flag("describe"),
    }
}
