//! The options of `manual`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::ManualOptions;
use crate::arguments::text;

/// The options.
pub(super) fn command() -> Command {
    Command::new("manual")
        .hide(true)
        .about("Write the pages of the manual for man into a folder")
        .arg(
            Arg::new("date")
                .long("date")
                .value_name("DATE")
                .default_value("1970-01-01")
                .help("The day that the pages name"),
        )
        .arg(
            Arg::new("folder")
                .required(true)
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("The folder, made if it is not there"),
        )
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> ManualOptions {
    let folder = matches.get_one::<PathBuf>("folder");
    ManualOptions {
        folder: folder.cloned().unwrap_or_default(),
        date: text(matches, "date").unwrap_or_default().to_owned(),
    }
}
