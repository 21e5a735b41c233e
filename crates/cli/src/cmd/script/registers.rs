//! Registers of samples, in a line.

use std::io::Write;

use oxperf_present::dump::Architecture;
use oxperf_present::script::FieldSet;
use oxperf_wire::Sample;

/// Appends the registers that `fields` ask for.
pub(super) fn write(
    fields: FieldSet,
    sample: &Sample<'_>,
    architecture: Architecture,
    out: &mut Vec<u8>,
) {
    for (field, registers) in [
        (FieldSet::IREGS, sample.regs_intr),
        (FieldSet::UREGS, sample.regs_user),
    ] {
        let Some(registers) =
            registers.filter(|registers| fields.contains(field) && registers.abi != 0)
        else {
            continue;
        };
        // Writing to a vector cannot fail.
        let _ = write!(out, " ABI:{} ", registers.abi);
        let bits = (0..64).filter(|bit| registers.mask >> bit & 1 != 0);
        for (bit, value) in bits.zip(registers.values.iter()) {
            let _ = write!(out, "{:>5}:{value:#x} ", architecture.register(bit));
        }
    }
}
