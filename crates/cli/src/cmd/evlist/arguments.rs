//! The options of `evlist`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_present::recording::evlist::EvlistDetail;

use super::EvlistOptions;
use crate::arguments::input;
use crate::failure::Failure;

/// The options.
pub(super) fn command() -> Command {
    let flag = |name: &'static str, short, help| {
        Arg::new(name)
            .short(short)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("evlist")
        .about("List the events of a recording")
        .args(input::arguments())
        .arg(flag("freq", 'F', "Show periods and frequencies").long("freq"))
        .arg(flag("verbose", 'v', "Show the whole attribute of each event").long("verbose"))
        .arg(
            Arg::new("trace-fields")
                .long("trace-fields")
                .action(ArgAction::SetTrue)
                .help("Show the fields of tracepoints' records"),
        )
        .arg(flag("group", 'g', "Show the events of a group on one line").long("group"))
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches) -> Result<EvlistOptions, Failure> {
    if matches.get_flag("group") && (matches.get_flag("verbose") || matches.get_flag("freq")) {
        return Err(Failure::bad_option(
            "Error: --group option is not compatible with other options",
        ));
    }
    Ok(EvlistOptions {
        input: input::options(matches),
        detail: detail(matches),
        trace_fields: matches.get_flag("trace-fields"),
    })
}

fn detail(matches: &ArgMatches) -> EvlistDetail {
    match (
        matches.get_flag("verbose"),
        matches.get_flag("group"),
        matches.get_flag("freq"),
    ) {
        (true, ..) => EvlistDetail::Attribute,
        (_, true, _) => EvlistDetail::Group,
        (.., true) => EvlistDetail::Frequency,
        _ => EvlistDetail::Name,
    }
}
