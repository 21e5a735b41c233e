//! The browser of `report`: its options, and those that it passes on.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use oxperf_itrace::ItraceOptions;

use crate::arguments::{self, input, symbols};
use crate::cmd::report::options::BrowserOptions;
use crate::configuration::{self, Configuration};

/// The browser as the options and the configuration ask for it.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> BrowserOptions {
    BrowserOptions {
        palette: configuration::colours::palette(configuration),
        headings: configuration.flag("ui.show-headers") != Some(false),
        passed_on: passed_on(matches),
    }
}

/// The options that say where names, code and trace come from, as they were given.
fn passed_on(matches: &ArgMatches) -> Vec<String> {
    let trace = arguments::itrace::arguments(ItraceOptions::ALL_LETTERS);
    let shared = input::arguments()
        .into_iter()
        .chain(symbols::arguments())
        .chain(trace);
    let given = |arg: &Arg| {
        let id = arg.get_id().as_str();
        id != "input" && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    shared
        .filter(given)
        .flat_map(|arg| as_given(&arg, matches))
        .collect()
}

fn as_given(arg: &Arg, matches: &ArgMatches) -> Vec<String> {
    let Some(long) = arg.get_long() else {
        return Vec::new();
    };
    if !arg.get_action().takes_values() {
        return vec![format!("--{long}")];
    }
    let values = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    values
        .map(|value| format!("--{long}={}", value.to_string_lossy()))
        .collect()
}
