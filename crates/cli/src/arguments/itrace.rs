//! `--itrace`: samples made of the recording's hardware trace.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_itrace::{Cores, ItraceOptions};

use crate::failure::Failure;

/// The options; `--itrace` without a value stands for the letters of `bare`.
pub(crate) fn arguments(bare: &'static str) -> [Arg; 3] {
    [
        Arg::new("itrace")
            .long("itrace")
            .value_name("OPTIONS")
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
            .value_name("N")
            .value_parser(clap::value_parser!(u16).range(1..))
            .help("Decode hardware trace on so many cores; on all by default"),
    ]
}
/// The options that were given, or those that the command has of its own.
pub(crate) fn options(
    matches: &ArgMatches,
    own: ItraceOptions,
) -> Result<Option<ItraceOptions>, Failure> {
    let text = matches.get_one::<String>("itrace");
    let parsed = text.map(|text| ItraceOptions::parse(text)).transpose();
    let parsed = parsed.map_err(|error| Failure::bad_option(error.to_string()))?;
    Ok((!matches.get_flag("no-itrace")).then(|| parsed.unwrap_or(own)))
}

/// The cores that trace is decoded on.
pub(crate) fn cores(matches: &ArgMatches) -> Cores {
    let given = matches.get_one::<u16>("decode-threads");
    given.map_or_else(Cores::all, |count| Cores::new(usize::from(*count)))
}

/// The samples that are made of hardware trace, and the cores for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceRequest {
    /// The samples.
    pub(crate) itrace: ItraceOptions,
    /// The cores that trace is decoded on.
    pub(crate) cores: Cores,
}

/// The samples that are asked for, else those that the command makes of its own; `None` with `--no-itrace`.
pub(crate) fn request(
    matches: &ArgMatches,
    own: ItraceOptions,
) -> Result<Option<TraceRequest>, Failure> {
    let cores = cores(matches);
    Ok(options(matches, own)?.map(|itrace| TraceRequest { itrace, cores }))
}
