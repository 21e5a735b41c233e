//! The options of `bundle`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_itrace::ItraceOptions;

use super::BundleOptions;
use crate::arguments::{self, input, itrace, symbols, text};
use crate::configuration::Configuration;

/// The options.
pub(super) fn command() -> Command {
    Command::new("bundle")
        .about("Pack a recording with all files that its names and code come from, to be read anywhere")
        .arg(Arg::new("file").value_name("file").help("The recording [default: perf.data]"))
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("file")
                .help("The bundle [default: the recording's name and .bundle.tar.zst]"),
        )
        .arg(
            Arg::new("source")
                .long("source")
                .action(ArgAction::SetTrue)
                .help("Pack the source text of sampled code, too, as far as everybody may read those files"),
        )
        .args(input::arguments())
        .args(itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(symbols::arguments())
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> BundleOptions {
    let mut recording = arguments::recording(matches, configuration);
    recording.input = input::options_or_file(matches, "file");
    BundleOptions {
        recording,
        output: text(matches, "output").map(PathBuf::from),
        source_text: matches.get_flag("source"),
    }
}
