//! The option that names a folder of tables of events.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, ValueHint, value_parser};

use super::TablesOptions;
use crate::configuration::Configuration;

const OPTION: &str = "pmu-events";
const KEY: &str = "pmu-events.path";

/// The option.
pub(crate) fn option() -> Arg {
    Arg::new(OPTION)
        .long(OPTION)
        .value_name("dir")
        .value_hint(ValueHint::DirPath)
        .value_parser(value_parser!(PathBuf))
        .help("Folder of tables of events, asked before the built-in ones: the kernel's pmu-events/arch, Intel perfmon's or Arm's files")
}

/// The folders that the option and the configuration name.
pub(crate) fn options(matches: &ArgMatches, configuration: &Configuration) -> TablesOptions {
    TablesOptions {
        named: matches.get_one(OPTION).cloned(),
        configured: configuration.text(KEY).map(PathBuf::from),
    }
}
