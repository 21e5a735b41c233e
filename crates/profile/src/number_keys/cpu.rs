//! The CPU of a sample.

use super::{NumberCell, NumberKey, NumberOrder};

/// `cpu`: the number of the CPU.
pub static CPU: NumberKey = NumberKey {
    name: "cpu",
    heading: "CPU",
    width: 0,
    cell: NumberCell::ZeroFilled { blank: 0 },
    order: NumberOrder::Rising,
    value: |input| input.sample.cpu.map(|cpu| cpu.0.into()),
};
