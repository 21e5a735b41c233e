//! `iregs`, `uregs`: registers of a sample, in a line.

use std::io::Write;

use oxperf_present::script::FieldSet;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::IREGS, FieldSet::UREGS],
    write,
};

fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    let (sample, out) = (view.sample(), out.buffer());
    for (field, registers) in [
        (FieldSet::IREGS, sample.regs_intr),
        (FieldSet::UREGS, sample.regs_user),
    ] {
        let shown = view.fields().contains(field);
        let Some(registers) = registers.filter(|registers| shown && registers.abi != 0) else {
            continue;
        };
        // Writing to a vector cannot fail.
        let _ = write!(out, " ABI:{} ", registers.abi);
        let bits = (0..64).filter(|bit| registers.mask >> bit & 1 != 0);
        for (bit, value) in bits.zip(registers.values.iter()) {
            let name = text.options.architecture.register(bit);
            let _ = write!(out, "{name:>5}:{value:#x} ");
        }
    }
}
