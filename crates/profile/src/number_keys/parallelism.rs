//! The number of threads that ran at the time of a sample.

use super::{NumberCell, NumberKey, NumberOrder};

/// `parallelism`: how many threads ran at the moment.
pub static PARALLELISM: NumberKey = NumberKey {
    name: "parallelism",
    heading: "Parallelism",
    width: 0,
    cell: NumberCell::Right,
    order: NumberOrder::Rising,
    value: |input| Some(input.threads.into()),
};
