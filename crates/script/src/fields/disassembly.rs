//! `disasm`: instructions as assembly text.

use std::cell::RefCell;
use std::fmt::Write;

use oxperf_disasm::{Disassembler, LineLayout, Syntax, Width};
use oxperf_present::text::sanitize;
use oxperf_session::{CodeWidth, TracedCode};

use crate::text_context::TextContext;
use crate::view::{AddressContext, SampleView};

thread_local! {
    /// Disassemblers cannot go from one thread to another; lines are written on many.
    static ASSEMBLY: RefCell<Assembly> = RefCell::default();
}

/// The disassemblers, and a buffer for their text.
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
        instruction: &InstructionBytes<'_>,
        name: &mut dyn FnMut(u64, &mut String) -> bool,
    ) -> Option<(&str, usize)> {
        let InstructionBytes {
            bytes,
            width,
            address,
            ..
        } = *instruction;
        let disassembler = self.disassemblers[width as usize].get_or_insert_with(|| {
            Disassembler::new(disassembled_width(width), Syntax::Att, LineLayout::Script)
        });
        self.text.clear();
        let length = disassembler.write(bytes, address, name, &mut self.text)?;
        Some((&self.text, length))
    }
}

/// The width in the disassembler's terms.
fn disassembled_width(width: CodeWidth) -> Width {
    match width {
        CodeWidth::Bits16 => Width::Bits16,
        CodeWidth::Bits32 => Width::Bits32,
        CodeWidth::Bits64 => Width::Bits64,
    }
}

/// Appends the instruction of a sample as text, with the name of where it goes; nothing where its bytes are not known.
pub(crate) fn write_disassembly(
    text: &mut TextContext<'_>,
    view: &SampleView<'_>,
    code: &TracedCode,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.extend_from_slice(b"\t\t");
    let instruction = InstructionBytes {
        bytes: code.instruction().unwrap_or_default(),
        width: code.width,
        address: view.ip_or_zero(),
        shows_target: false,
    };
    if push_assembly(text, view.context(), instruction, out).is_none() {
        out.truncate(start);
    }
}

/// An instruction that is to be shown as text.
#[derive(Clone, Copy)]
pub(crate) struct InstructionBytes<'b> {
    /// It, and bytes behind it.
    pub(crate) bytes: &'b [u8],
    pub(crate) width: CodeWidth,
    pub(crate) address: u64,
    /// `true` where the address that it goes to stands behind the name.
    pub(crate) shows_target: bool,
}

/// Appends an instruction as text, with the name of where it goes; gives its length, `None` where there is none.
pub(crate) fn push_assembly(
    text: &mut TextContext<'_>,
    context: AddressContext<'_>,
    instruction: InstructionBytes<'_>,
    out: &mut Vec<u8>,
) -> Option<usize> {
    let (addresses, names) = (&mut text.addresses, &text.names);
    let AddressContext { machine, thread } = context;
    let mut name = |address: u64, out: &mut String| {
        let mode = machine.guess_mode(thread, address);
        let Some((_, located)) = addresses.locate(machine, thread, mode, address) else {
            return false;
        };
        let Some(name) = names.name(machine.objects(), &located) else {
            return false;
        };
        let offset = located.address.wrapping_sub(name.start);
        let named = write!(out, "{}+{offset:#x}", sanitize(name.text));
        let target = if instruction.shows_target {
            write!(out, " [{address:#x}]")
        } else {
            Ok(())
        };
        named.and(target).is_ok()
    };
    ASSEMBLY.with_borrow_mut(|assembly| {
        let (shown, length) = assembly.write(&instruction, &mut name)?;
        out.extend_from_slice(shown.as_bytes());
        Some(length)
    })
}
