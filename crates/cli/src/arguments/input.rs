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

/// The options of a command that reads several recordings.
pub(crate) fn of_several() -> Vec<Arg> {
    let mut all = arguments();
    all.iter_mut()
        .filter(|option| option.get_id() == "input")
        .for_each(|option| *option = option.clone().action(ArgAction::Append));
    all
}

/// The recordings that the options of [`of_several`] name; the usual one if they name none.
pub(crate) fn several(matches: &ArgMatches) -> Vec<InputOptions> {
    let named = matches.get_many::<String>("input").into_iter().flatten();
    let one = |path: &String| InputOptions {
        path: Some(path.clone()),
        force: flag(matches, "force"),
    };
    let several: Vec<InputOptions> = named.filter(|path| !path.is_empty()).map(one).collect();
    match several.is_empty() {
        true => vec![options(matches)],
        false => several,
    }
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
