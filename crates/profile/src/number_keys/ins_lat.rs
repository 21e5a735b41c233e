//! The latency of a sample's instruction.

use super::{NumberCell, NumberInput, NumberKey, NumberOrder};

/// `local_ins_lat`: that of a sample.
pub static LOCAL_INS_LAT: NumberKey = NumberKey {
    name: "local_ins_lat",
    heading: "Local INSTR Latency",
    width: 0,
    cell: NumberCell::Left,
    order: NumberOrder::Falling,
    value,
};

/// `ins_lat`: that of all samples of a row.
pub static INS_LAT: NumberKey = NumberKey {
    name: "ins_lat",
    heading: "INSTR Latency",
    width: 0,
    cell: NumberCell::Sum,
    order: NumberOrder::Falling,
    value,
};

fn value(input: &NumberInput<'_>) -> Option<u64> {
    Some(input.weights()[1])
}
