//! `-i`, `-f`: the recording that a command reads.

use clap::{Arg, ArgAction, ArgMatches};

use super::{flag, text};
use crate::input::InputOptions;

/// The options that say which recording to read.
pub(crate) fn arguments() -> Vec<Arg> {
    vec![
        Arg::new("input")
            .short('i')
            .long("input")
            .value_name("file")
            .help("Recording to read: a file, a directory or a FIFO; - is standard input [default: standard input if that is a pipe, else perf.data]"),
        Arg::new("force")
            .short('f')
            .long("force")
            .action(ArgAction::SetTrue)
            .help("Read a recording that belongs to somebody else"),
    ]
}

/// The recording that the options name.
pub(crate) fn options(matches: &ArgMatches) -> InputOptions {
    let named = text(matches, "input").filter(|path| !path.is_empty());
    InputOptions {
        path: named.map(str::to_owned),
        force: flag(matches, "force"),
    }
}

/// The recording that stands alone on the command line, as `name`, else the one that the options name.
pub(crate) fn options_or_file(matches: &ArgMatches, name: &str) -> InputOptions {
    let options = options(matches);
    InputOptions {
        path: text(matches, name).map(str::to_owned).or(options.path),
        ..options
    }
}
