//! The calls that the CPU keeps (LBR), to complete call chains by those of the sample before.

use oxperf_abi::SampleType;
use oxperf_data::Reader;
use oxperf_data::features::{Capability, CpuPmuCaps, PmuCaps};

/// The recording has no call chains that the CPU kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no call chains that the CPU kept")]
pub struct NoLbrCallchain;

/// The number of calls that the CPU keeps, to complete chains with; `None` where the recorder did not note it.
///
/// # Errors
/// The recording has no chains to complete.
pub fn stitched_registers(reader: &Reader<'_>) -> Result<Option<u32>, NoLbrCallchain> {
    if !keeps_calls(reader) {
        return Err(NoLbrCallchain);
    }
    let features = reader.features();
    let of_cpu = features.get::<CpuPmuCaps>().ok().flatten();
    let of_all = features.get::<PmuCaps>().ok().flatten();
    let lists = of_cpu
        .iter()
        .map(|caps| &caps.0)
        .chain(of_all.iter().flat_map(|caps| &caps.0).map(|pmu| &pmu.caps));
    Ok(lists.flatten().find_map(branches))
}

fn branches(capability: &Capability) -> Option<u32> {
    capability
        .value
        .parse()
        .ok()
        .filter(|_| capability.name == "branches")
}

/// `true` if samples have chains and the calls that the CPU kept, and no copies of stacks.
fn keeps_calls(reader: &Reader<'_>) -> bool {
    let all = reader.events().iter().fold(SampleType(0), |all, event| {
        all | event.stored.attr.sample_type
    });
    all.contains(SampleType::CALLCHAIN | SampleType::BRANCH_STACK)
        && !all.contains(SampleType::REGS_USER | SampleType::STACK_USER)
}
