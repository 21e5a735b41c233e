//! `insn`, `insnlen`, `disasm`: the instruction of a sample; and the code between its last branches.

use std::num::NonZeroU8;

use oxperf_itrace::CodeInstruction;
use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::{write_code, write_length};
use oxperf_session::TracedCode;

use super::TextField;
use super::branch_code::write_branch_code;
use super::disassembly::write_disassembly;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[
        FieldSet::INSNLEN,
        FieldSet::INSN,
        FieldSet::DISASM,
        FieldSet::BRSTACKINSN,
        FieldSet::BRSTACKINSNLEN,
        FieldSet::BRSTACKDISASM,
    ],
    write,
};

/// Appends the length of the instruction, its bytes, its text, and the code between the last branches.
fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    let (fields, out) = (view.fields(), out.buffer());
    let traced = view.traced().map(|traced| traced.code);
    let code = traced
        .filter(|code| code.length.is_some())
        .unwrap_or_else(|| code_at(text, view));
    if fields.contains(FieldSet::INSNLEN) {
        write_length(&code, out);
    }
    if fields.contains(FieldSet::INSN) {
        write_code(&code, out);
    }
    if fields.contains(FieldSet::DISASM) {
        write_disassembly(text, view, &code, out);
    }
    write_branch_code(text, view, out);
}

/// The instruction at the address of a sample, for one that does not say what ran.
fn code_at(text: &mut TextContext<'_>, view: &SampleView<'_>) -> TracedCode {
    let Some(ip) = view.sample().ip.filter(|ip| *ip != 0) else {
        return TracedCode::default();
    };
    let found = text.code.read(view.context(), ip, CodeInstruction::LONGEST);
    let Some(first) = CodeInstruction::first_of(&found.bytes, found.width) else {
        return TracedCode::default();
    };
    let mut code = TracedCode {
        width: found.width,
        length: u8::try_from(first.length).ok().and_then(NonZeroU8::new),
        ..TracedCode::default()
    };
    code.bytes
        .iter_mut()
        .zip(&found.bytes)
        .for_each(|(to, from)| *to = *from);
    code
}
