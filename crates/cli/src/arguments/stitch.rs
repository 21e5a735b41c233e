//! `--stitch-lbr`: callers that the CPU no longer kept are taken from the sample before.

use clap::{Arg, ArgAction, ArgMatches};

use super::flag;

/// The option.
pub(crate) fn argument() -> Arg {
    Arg::new("stitch-lbr").long("stitch-lbr").action(ArgAction::SetTrue).help(
        "Complete call chains that the CPU kept (record --call-graph lbr) with callers that it kept at the sample before",
    )
}

/// `true` if chains are to be completed.
pub(crate) fn is_given(matches: &ArgMatches) -> bool {
    flag(matches, "stitch-lbr")
}
