//! String instructions in listings: `objdump` writes out what they read and write.

use iced_x86::{Instruction, Mnemonic, Register};

use crate::Syntax;

/// The place of an operand of a string instruction.
#[derive(Clone, Copy)]
enum Operand {
    /// At `rsi`, in the data segment or another one.
    Source,
    /// At `rdi`, in the extra segment.
    Destination,
    /// In `al`, `ax`, `eax` or `rax`.
    Accumulator,
    /// The port whose number is in `dx`.
    Port,
}

/// A string instruction: name, bytes of an element, operands with the destination first.
struct Shape {
    name: &'static str,
    size: u8,
    operands: [Operand; 2],
}

/// Appends a string instruction with the padding of a listing behind `start`; `false`, with nothing appended, if it is
/// none or repeats in a way that means nothing for it.
pub(crate) fn write(
    instruction: &Instruction,
    syntax: Syntax,
    start: usize,
    out: &mut String,
) -> bool {
    let Some(shape) = shape(instruction.mnemonic()).filter(|_| instruction.is_string_instruction())
    else {
        return false;
    };
    let compares = matches!(shape.name, "cmps" | "scas");
    match (instruction.has_rep_prefix(), instruction.has_repne_prefix()) {
        (true, _) if compares => out.push_str("repz "),
        (true, _) => out.push_str("rep "),
        (_, true) => out.push_str("repnz "),
        _ => {}
    }
    out.push_str(shape.name);
    let tells_size = shape
        .operands
        .iter()
        .any(|operand| matches!(operand, Operand::Accumulator));
    if syntax == Syntax::Att && !tells_size {
        out.push(match shape.size {
            1 => 'b',
            2 => 'w',
            4 => 'l',
            _ => 'q',
        });
    }
    while out.len() < start + 6 {
        out.push(' ');
    }
    out.push(' ');
    let [destination, source] = shape
        .operands
        .map(|operand| text(instruction, syntax, shape.size, operand));
    let (first, second) = if syntax == Syntax::Att {
        (source, destination)
    } else {
        (destination, source)
    };
    out.push_str(&format!("{first},{second}"));
    true
}

fn shape(mnemonic: Mnemonic) -> Option<Shape> {
    use Operand::{Accumulator, Destination, Port, Source};
    let size = match mnemonic {
        Mnemonic::Movsb | Mnemonic::Cmpsb | Mnemonic::Stosb | Mnemonic::Lodsb | Mnemonic::Scasb => {
            1
        }
        Mnemonic::Insb | Mnemonic::Outsb => 1,
        Mnemonic::Movsw | Mnemonic::Cmpsw | Mnemonic::Stosw | Mnemonic::Lodsw | Mnemonic::Scasw => {
            2
        }
        Mnemonic::Insw | Mnemonic::Outsw => 2,
        Mnemonic::Movsd | Mnemonic::Cmpsd | Mnemonic::Stosd | Mnemonic::Lodsd | Mnemonic::Scasd => {
            4
        }
        Mnemonic::Insd | Mnemonic::Outsd => 4,
        Mnemonic::Movsq | Mnemonic::Cmpsq | Mnemonic::Stosq | Mnemonic::Lodsq | Mnemonic::Scasq => {
            8
        }
        _ => return None,
    };
    let (name, operands) = match mnemonic {
        Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq => {
            ("movs", [Destination, Source])
        }
        Mnemonic::Cmpsb | Mnemonic::Cmpsw | Mnemonic::Cmpsd | Mnemonic::Cmpsq => {
            ("cmps", [Source, Destination])
        }
        Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => {
            ("stos", [Destination, Accumulator])
        }
        Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd | Mnemonic::Lodsq => {
            ("lods", [Accumulator, Source])
        }
        Mnemonic::Scasb | Mnemonic::Scasw | Mnemonic::Scasd | Mnemonic::Scasq => {
            ("scas", [Accumulator, Destination])
        }
        Mnemonic::Insb | Mnemonic::Insw | Mnemonic::Insd => ("ins", [Destination, Port]),
        _ => ("outs", [Port, Source]),
    };
    Some(Shape {
        name,
        size,
        operands,
    })
}

fn text(instruction: &Instruction, syntax: Syntax, size: u8, operand: Operand) -> String {
    let att = syntax == Syntax::Att;
    match operand {
        Operand::Port if att => "(%dx)".to_owned(),
        Operand::Port => "dx".to_owned(),
        Operand::Accumulator => {
            let name = match size {
                1 => "al",
                2 => "ax",
                4 => "eax",
                _ => "rax",
            };
            format!("{}{name}", if att { "%" } else { "" })
        }
        Operand::Source | Operand::Destination => memory(instruction, syntax, size, operand),
    }
}

fn memory(instruction: &Instruction, syntax: Syntax, size: u8, operand: Operand) -> String {
    let source = matches!(operand, Operand::Source);
    let segment = match (source, instruction.segment_prefix()) {
        (false, _) => "es",
        (true, Register::FS) => "fs",
        (true, Register::GS) => "gs",
        (true, _) => "ds",
    };
    let short = instruction.op_kinds().any(is_short_address);
    let register = match (source, short) {
        (true, false) => "rsi",
        (true, true) => "esi",
        (false, false) => "rdi",
        (false, true) => "edi",
    };
    if syntax == Syntax::Att {
        return format!("%{segment}:(%{register})");
    }
    let width = match size {
        1 => "BYTE",
        2 => "WORD",
        4 => "DWORD",
        _ => "QWORD",
    };
    format!("{width} PTR {segment}:[{register}]")
}

fn is_short_address(kind: iced_x86::OpKind) -> bool {
    use iced_x86::OpKind::{MemoryESEDI, MemorySegEDI, MemorySegESI};
    matches!(kind, MemoryESEDI | MemorySegEDI | MemorySegESI)
}
