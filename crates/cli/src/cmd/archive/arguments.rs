//! The options of `archive`.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::ArchiveOptions;
use crate::arguments::{build_id_cache, symbols, text};
use crate::configuration::Configuration;

/// The options.
pub(super) fn command() -> Command {
    let flag = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("archive")
        .about("Pack the cached binaries of a recording for another machine, and unpack them there")
        .args([
            Arg::new("file")
                .value_name("file")
                .help("The recording [default: perf.data], or what to unpack"),
            flag("all", "Pack the recording, too"),
            flag(
                "unpack",
                "Put the binaries into the cache here, and the recording into this folder",
            ),
            flag("force", "Read a recording that belongs to somebody else").short('f'),
        ])
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> ArchiveOptions {
    ArchiveOptions {
        cache: build_id_cache(matches, configuration),
        file: text(matches, "file").map(str::to_owned),
        unpack: matches.get_flag("unpack"),
        with_recording: matches.get_flag("all"),
        force: matches.get_flag("force"),
        symbols: symbols::options(matches, configuration),
    }
}
