//! Instructions of samples as assembly text.

use std::fmt::Write;

use oxperf_disasm::{Disassembler, Form, Syntax, Width};
use oxperf_machine::Machine;
use oxperf_present::visible::visible;
use oxperf_session::{SampleEvent, TracedCode};

use super::printer::Printer;

/// What is kept from instruction to instruction.
pub(super) struct Assembly {
    disassembler: Disassembler,
    text: String,
}

impl Default for Assembly {
    fn default() -> Assembly {
        let disassembler = Disassembler::new(Width::Bits64, Syntax::Att, Form::Script);
        Assembly { disassembler, text: String::new() }
    }
}

impl Printer<'_> {
    /// The instruction as text, with the name of where it goes; nothing where its bytes are not known.
    pub(super) fn print_disassembly(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
        code: &TracedCode,
    ) {
        let (places, names) = (&mut self.places, &mut self.names);
        let mut name = |address: u64, out: &mut String| {
            let mode = machine.guess_mode(event.thread, address);
            let Some((_, place)) = places.locate(machine, event.thread, mode, address) else { return false };
            names.grow(machine);
            let Some(name) = names.name(machine, &place) else { return false };
            let offset = place.address.wrapping_sub(name.start);
            write!(out, "{}+{offset:#x}", visible(name.text)).is_ok()
        };
        let bytes = &code.bytes[..usize::from(code.length).min(code.bytes.len())];
        let Assembly { disassembler, text } = &mut self.assembly;
        text.clear();
        if disassembler.write(bytes, event.sample.ip.unwrap_or(0), &mut name, text).is_some() {
            let out = self.output.buffer();
            out.extend_from_slice(b"\t\t");
            out.extend_from_slice(text.as_bytes());
        }
    }
}
