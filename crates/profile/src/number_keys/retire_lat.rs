//! The latency of the retirement of a sample's instruction, under the name that x86 gives it.

use super::{NumberCell, NumberInput, NumberKey, NumberOrder};

// The headings are perf's on x86, where `retire_lat` and `p_stage_cyc` each stand under the other's.
/// `local_retire_lat`: that of a sample.
pub static LOCAL_RETIRE_LAT: NumberKey = NumberKey {
    name: "local_retire_lat",
    heading: "Local Pipeline Stage Cycle",
    width: 0,
    cell: NumberCell::Left,
    order: NumberOrder::Falling,
    value,
};

/// `retire_lat`: that of all samples of a row.
pub static RETIRE_LAT: NumberKey = NumberKey {
    name: "retire_lat",
    heading: "Pipeline Stage Cycle",
    width: 0,
    cell: NumberCell::Sum,
    order: NumberOrder::Falling,
    value,
};

fn value(input: &NumberInput<'_>) -> Option<u64> {
    Some(input.weights()[2])
}
