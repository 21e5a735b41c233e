//! The options of the keeper of an unpacked bundle.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use crate::bundled::KEEPER;

/// The options: the folder.
pub(super) fn command() -> Command {
    Command::new(KEEPER)
        .hide(true)
        .about("Remove the folder of a bundle when standard input ends")
        .arg(
            Arg::new("folder")
                .required(true)
                .value_parser(value_parser!(PathBuf)),
        )
}

/// The folder.
pub(super) fn folder(matches: &ArgMatches) -> PathBuf {
    let given = matches.get_one::<PathBuf>("folder");
    given.cloned().unwrap_or_default()
}
