//! Call chains completed by the calls that the CPU kept at the sample before.

use clap::ArgMatches;
use oxperf_data::Reader;

pub(crate) use crate::arguments::stitch::argument;
use crate::output::print_error;

const NO_CALLS: &str = "\
Warning:
Can't find LBR callchain. Switch off --stitch-lbr.
Please apply --call-graph lbr when recording.";

/// How many calls the CPU keeps, where chains are to be completed; says so where the recording has none to complete.
pub(crate) fn registers(matches: &ArgMatches, reader: &Reader<'_>) -> Option<u32> {
    if !crate::arguments::stitch::is_given(matches) {
        return None;
    }
    oxperf_query::stitched_registers(reader).unwrap_or_else(|_| {
        print_error(NO_CALLS);
        None
    })
}
