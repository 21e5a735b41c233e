//! `--itrace`: samples made of the recording's hardware trace.

use super::{flag, text};
use crate::configuration::Configuration;
use crate::recording_options::TraceArguments;
use clap::{Arg, ArgAction, ArgMatches};

/// The options; `--itrace` without a value stands for the letters of `bare`.
pub(crate) fn arguments(bare: &'static str) -> [Arg; 3] {
    [
        Arg::new("itrace")
            .long("itrace")
            .value_name("opts")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(bare)
            .help("What to make of Intel PT trace: letters such as i10us b cr e w p x g16 l32; see docs/commands.md"),
        Arg::new("no-itrace")
            .long("no-itrace")
            .action(ArgAction::SetTrue)
            .help("Do not decode hardware trace"),
        Arg::new("decode-threads")
            .long("decode-threads")
            .value_name("n")
            .value_parser(clap::value_parser!(u16).range(1..))
            .help("Decode hardware trace on so many cores; on all by default"),
    ]
}

/// The options as they were given, and the configuration's part; none of a command without them.
pub(crate) fn options(matches: &ArgMatches, configuration: &Configuration) -> TraceArguments {
    let cores = matches.try_get_one::<u16>("decode-threads").ok().flatten();
    TraceArguments {
        letters: text(matches, "itrace").map(str::to_owned),
        off: flag(matches, "no-itrace"),
        cores: cores.copied(),
        mispredicted: configuration.flag("intel-pt.mispred-all") == Some(true),
        log_kept: configuration
            .number("itrace.debug-log-buffer-size")
            .and_then(|size| usize::try_from(size).ok()),
    }
}
