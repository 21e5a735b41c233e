//! Call chains completed by the calls that the CPU kept at the sample before.

use oxperf_data::Reader;

use crate::output::print_error;

const NO_CALLS: &str = "\
Warning:
Can't find LBR callchain. Switch off --stitch-lbr.
Please apply --call-graph lbr when recording.";

/// The number of calls that the CPU keeps, where chains are to be completed; warns where the recording has none to
/// complete.
pub(crate) fn stitched_registers(wanted: bool, reader: &Reader<'_>) -> Option<u32> {
    if !wanted {
        return None;
    }
    oxperf_query::stitched_registers(reader).unwrap_or_else(|_| {
        print_error(NO_CALLS);
        None
    })
}
