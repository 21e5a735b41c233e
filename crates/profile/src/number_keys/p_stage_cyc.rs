//! The latency of the retirement of a sample's instruction, under the name that PowerPC gives it.

use super::{NumberCell, NumberInput, NumberKey, NumberOrder};

// The headings are perf's on x86, where `retire_lat` and `p_stage_cyc` each stand under the other's.
/// `local_p_stage_cyc`: that of a sample.
pub static LOCAL_P_STAGE_CYC: NumberKey = NumberKey {
    name: "local_p_stage_cyc",
    heading: "Local Retire Latency",
    width: 0,
    cell: NumberCell::Left,
    order: NumberOrder::Falling,
    value,
};

/// `p_stage_cyc`: that of all samples of a row.
pub static P_STAGE_CYC: NumberKey = NumberKey {
    name: "p_stage_cyc",
    heading: "Retire Latency",
    width: 0,
    cell: NumberCell::Sum,
    order: NumberOrder::Falling,
    value,
};

fn value(input: &NumberInput<'_>) -> Option<u64> {
    Some(input.weights()[2])
}
