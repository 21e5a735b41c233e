//! Instructions of samples as assembly text.

use std::cell::RefCell;
use std::fmt::Write;

use oxperf_disasm::{Disassembler, LineLayout, Syntax, Width};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::text::sanitize;
use oxperf_session::{CodeWidth, SampleEvent, TracedCode};

use super::printer::Printer;

thread_local! {
    /// Disassemblers cannot go from one thread to another; lines are written on many.
    static ASSEMBLY: RefCell<Assembly> = RefCell::default();
}

/// What is kept from instruction to instruction.
#[derive(Debug, Default)]
struct Assembly {
    /// For code of each width, made when such code comes.
    disassemblers: [Option<Disassembler>; 3],
    text: String,
}

impl Assembly {
    /// The instruction at an address as text, and how long it is; `None` where there is none.
    fn write(
        &mut self,
        (bytes, width, address): (&[u8], CodeWidth, u64),
        name: &mut dyn FnMut(u64, &mut String) -> bool,
    ) -> Option<(&str, usize)> {
        let disassembler = self.disassemblers[width as usize].get_or_insert_with(|| {
            Disassembler::new(disassembled_width(width), Syntax::Att, LineLayout::Script)
        });
        self.text.clear();
        let length = disassembler.write(bytes, address, name, &mut self.text)?;
        Some((&self.text, length))
    }
}

/// The same width as the disassembler calls it.
fn disassembled_width(width: CodeWidth) -> Width {
    match width {
        CodeWidth::Bits16 => Width::Bits16,
        CodeWidth::Bits32 => Width::Bits32,
        CodeWidth::Bits64 => Width::Bits64,
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
        let start = self.output.buffer().len();
        self.output.buffer().extend_from_slice(b"\t\t");
        let bytes = &code.bytes[..usize::from(code.length).min(code.bytes.len())];
        let instruction = (bytes, code.width, event.sample.ip.unwrap_or(0));
        if self
            .push_assembly(machine, event.thread, instruction, false)
            .is_none()
        {
            self.output.buffer().truncate(start);
        }
    }

    /// Appends an instruction as text, with the name of where it goes, and that address if `with_target`; gives its
    /// length, `None` where there is none.
    pub(super) fn push_assembly(
        &mut self,
        machine: &Machine,
        thread: ThreadId,
        instruction: (&[u8], CodeWidth, u64),
        with_target: bool,
    ) -> Option<usize> {
        let (places, names) = (&mut self.places, &self.names);
        let mut name = |address: u64, out: &mut String| {
            let mode = machine.guess_mode(thread, address);
            let Some((_, place)) = places.locate(machine, thread, mode, address) else {
                return false;
            };
            let Some(name) = names.name(machine.objects(), &place) else {
                return false;
            };
            let offset = place.address.wrapping_sub(name.start);
            let named = write!(out, "{}+{offset:#x}", sanitize(name.text));
            let told = if with_target {
                write!(out, " [{address:#x}]")
            } else {
                Ok(())
            };
            named.and(told).is_ok()
        };
        ASSEMBLY.with_borrow_mut(|assembly| {
            let (text, length) = assembly.write(instruction, &mut name)?;
            self.output.buffer().extend_from_slice(text.as_bytes());
            Some(length)
        })
    }
}
