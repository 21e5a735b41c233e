//! Instructions as text.
//!
//! For listings and for the lines of a trace: the bytes of one instruction become its assembly text, of x86 in AT&T or
//! Intel syntax, of 64-bit Arm in its own, with names for the addresses that it goes to. What supplies the bytes and the names is up to the
//! caller; nothing here reads a file. Whoever follows values through x86 code asks for [`Operation`]s in place of text.
//!
//! ```
//! use oxperf_disasm::{Disassembler, LineLayout, Syntax, Width};
//! let mut disassembler = Disassembler::new(Width::Bits64, Syntax::Att, LineLayout::Listing);
//! let mut text = String::new();
//! let mut name = |address: u64, out: &mut String| {
//!     out.push_str("main");
//!     address == 0x1015
//! };
//! let length = disassembler.write(&[0xe8, 0x10, 0, 0, 0], 0x1000, &mut name, &mut text);
//! assert_eq!((length, text.as_str()), (Some(5), "call   1015 <main>"));
//! ```

mod arm64;
mod output;
mod prefix;
mod step;
mod strings;
mod style;

pub use arm64::Arm64;
pub use step::{MemoryOperand, Operand, Operation, OperationFlow, Segment, Work};

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction};

use output::Output;

/// Width of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Real mode and 16-bit segments.
    Bits16,
    /// 32-bit code.
    Bits32,
    /// 64-bit code.
    Bits64,
}

/// Syntax of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Source before destination, `%` and `$` before registers and numbers.
    Att,
    /// Destination before source.
    Intel,
}

/// Layout of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLayout {
    /// As in listings of `objdump`: operands in a column, targets as `401136 <main+0x20>`.
    Listing,
    /// As in the lines of `perf script`: a blank before the operands, named targets by their names alone.
    Script,
}

/// Appends the name of an address, `main+0x20` for instance; `false` if there is none, and then it may have appended
/// anything.
pub type AddressNames<'a> = dyn FnMut(u64, &mut String) -> bool + 'a;

/// Writes instructions of one width in one style.
pub struct Disassembler {
    bits: u32,
    style: (Syntax, LineLayout),
    formatter: Box<dyn Formatter>,
    instruction: Instruction,
}

impl std::fmt::Debug for Disassembler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disassembler")
            .field("bits", &self.bits)
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

impl Disassembler {
    /// Makes ready what all of a style share: the names of instructions, which take milliseconds the first time. Who
    /// will need a disassembler can have it done beside other work.
    pub fn prepare(syntax: Syntax) {
        drop(style::formatter(syntax, LineLayout::Listing));
    }

    /// Prepares the style.
    pub fn new(width: Width, syntax: Syntax, form: LineLayout) -> Disassembler {
        let bits = match width {
            Width::Bits16 => 16,
            Width::Bits32 => 32,
            Width::Bits64 => 64,
        };
        Disassembler {
            bits,
            style: (syntax, form),
            formatter: style::formatter(syntax, form),
            instruction: Instruction::default(),
        }
    }

    /// Appends the instruction at the beginning of `code`, which lies at `address`, and returns its length; `None`,
    /// with nothing appended, if there is none.
    pub fn write(
        &mut self,
        code: &[u8],
        address: u64,
        names: &mut AddressNames<'_>,
        out: &mut String,
    ) -> Option<usize> {
        let mut decoder = Decoder::with_ip(self.bits, code, address, DecoderOptions::NONE);
        decoder.decode_out(&mut self.instruction);
        if self.instruction.is_invalid() {
            return None;
        }
        let length = self.instruction.len();
        let start = out.len();
        if self.style.1 == LineLayout::Listing {
            if self.bits == 64 {
                prefix::take_idle(
                    code.get(..length).unwrap_or(code),
                    &mut self.instruction,
                    out,
                );
            }
            if strings::write(&self.instruction, self.style.0, start, out) {
                return Some(length);
            }
            let column =
                style::OPERAND_COLUMN.saturating_sub(u32::try_from(out.len() - start).unwrap_or(0));
            style::suit(
                self.formatter.options_mut(),
                column,
                &self.instruction,
                self.style.0,
            );
        }
        let mut output = Output::new(self.style, code, &self.instruction, names, out);
        self.formatter.format(&self.instruction, &mut output);
        if self.instruction.is_ip_rel_memory_operand() {
            output.comment(self.instruction.ip_rel_memory_address());
        }
        Some(length)
    }
}
