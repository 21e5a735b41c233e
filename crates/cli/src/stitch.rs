//! The option `--stitch-lbr`: callers that the CPU no longer kept are taken from the sample before.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::SampleType;
use oxperf_data::Reader;
use oxperf_data::features::{Capability, CpuPmuCaps, PmuCaps};

use crate::output::print_error;

const NO_CALLS: &str = "\
Warning:
Can't find LBR callchain. Switch off --stitch-lbr.
Please apply --call-graph lbr when recording.";

/// The option.
pub(crate) fn argument() -> Arg {
    Arg::new("stitch-lbr").long("stitch-lbr").action(ArgAction::SetTrue).help(
        "Complete call chains that the CPU kept (record --call-graph lbr) with callers that it kept at the sample before",
    )
}

/// How many calls the CPU keeps, where chains are to be completed; says so where the recording has none to complete.
pub(crate) fn registers(matches: &ArgMatches, reader: &Reader<'_>) -> Option<u32> {
    if !matches.get_flag("stitch-lbr") {
        return None;
    }
    if !keeps_calls(reader) {
        print_error(NO_CALLS);
        return None;
    }
    let features = reader.features();
    let of_cpu = features.get::<CpuPmuCaps>().ok().flatten();
    let of_all = features.get::<PmuCaps>().ok().flatten();
    let lists = of_cpu
        .iter()
        .map(|caps| &caps.0)
        .chain(of_all.iter().flat_map(|caps| &caps.0).map(|pmu| &pmu.caps));
    lists.flatten().find_map(branches)
}

fn branches(capability: &Capability) -> Option<u32> {
    capability
        .value
        .parse()
        .ok()
        .filter(|_| capability.name == "branches")
}

/// Whether samples have chains and the calls that the CPU kept, and no copies of stacks.
fn keeps_calls(reader: &Reader<'_>) -> bool {
    let all = reader.events().iter().fold(SampleType(0), |all, event| {
        all | event.stored.attr.sample_type
    });
    all.contains(SampleType::CALLCHAIN | SampleType::BRANCH_STACK)
        && !all.contains(SampleType::REGS_USER | SampleType::STACK_USER)
}
