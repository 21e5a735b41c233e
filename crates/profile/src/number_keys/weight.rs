//! The cost of a sample.

use super::{NumberCell, NumberInput, NumberKey, NumberOrder};

/// `local_weight`: that of a sample.
pub static LOCAL_WEIGHT: NumberKey = NumberKey {
    name: "local_weight",
    heading: "Local Weight",
    width: 0,
    cell: NumberCell::Left,
    order: NumberOrder::Falling,
    value,
};

/// `weight`: that of all samples of a row.
pub static WEIGHT: NumberKey = NumberKey {
    name: "weight",
    heading: "Weight",
    width: 12,
    cell: NumberCell::Sum,
    order: NumberOrder::Falling,
    value,
};

fn value(input: &NumberInput<'_>) -> Option<u64> {
    Some(input.weights()[0])
}
