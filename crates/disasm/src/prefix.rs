//! Prefix bytes that change nothing: a listing names them before the instruction, as `cs`, `data16`, `rex.W`.
//!
//! Compilers pad code with them, and linkers replace one instruction by a shorter one that they fill up.

use iced_x86::{FlowControl, Instruction, Mnemonic, Register};

/// The prefixes before the opcode.
#[derive(Clone, Copy, Default)]
struct Before {
    /// Number of prefix bytes, without REX.
    count: usize,
    /// The REX byte, where one stands right before the opcode.
    rex: Option<u8>,
    /// The first byte of the opcode.
    opcode: u8,
}

impl Before {
    fn of(code: &[u8]) -> Before {
        let count = code.iter().take_while(|byte| is_legacy(**byte)).count();
        let next = code.get(count).copied().unwrap_or_default();
        if next & 0xf0 != 0x40 {
            return Before {
                count,
                rex: None,
                opcode: next,
            };
        }
        Before {
            count,
            rex: Some(next),
            opcode: code.get(count + 1).copied().unwrap_or_default(),
        }
    }
}

fn is_legacy(byte: u8) -> bool {
    matches!(
        byte,
        0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3
    )
}

/// Returns whether a shift or rotation is the short form, by one.
pub(crate) fn shifts_by_one(code: &[u8]) -> bool {
    matches!(Before::of(code).opcode, 0xd0 | 0xd1)
}

/// Appends the names of the prefixes of a 64-bit instruction that have no effect, and takes them from `instruction`.
pub(crate) fn take_idle(code: &[u8], instruction: &mut Instruction, out: &mut String) {
    let before = Before::of(code);
    let prefixes = &code[..before.count];
    if prefixes.is_empty() && before.rex.is_none() {
        return;
    }
    let segment = idle_segment(instruction);
    let address_counts = instruction
        .op_kinds()
        .any(|kind| kind == iced_x86::OpKind::Memory)
        || instruction.code().is_jcx_short()
        || instruction.is_string_instruction();
    for (index, byte) in prefixes.iter().enumerate() {
        let again = prefixes[index + 1..].contains(byte);
        match byte {
            0x66 if again || size_is_idle(&before, instruction) => out.push_str("data16 "),
            0x67 if again || !address_counts => out.push_str("addr32 "),
            0x26 | 0x2e | 0x36 | 0x3e if segment => out.push_str(segment_name(*byte)),
            _ => {}
        }
    }
    if segment {
        instruction.set_segment_prefix(Register::None);
    }
    if before.rex.is_some_and(|rex| rex & 8 != 0) && is_near_branch(instruction) {
        out.push_str("rex.W ");
    }
}

/// In 64-bit code only FS and GS mean anything; before branches the others are hints.
fn idle_segment(instruction: &Instruction) -> bool {
    let flat = matches!(
        instruction.segment_prefix(),
        Register::ES | Register::CS | Register::SS | Register::DS
    );
    let hint = instruction.flow_control() != FlowControl::Next;
    flat && !hint
}

fn segment_name(byte: u8) -> &'static str {
    match byte {
        0x26 => "es ",
        0x2e => "cs ",
        0x36 => "ss ",
        _ => "ds ",
    }
}

/// The size prefix counts for nothing beside REX.W, unless it is part of the opcode, and before near branches.
fn size_is_idle(before: &Before, instruction: &Instruction) -> bool {
    let wide = before.rex.is_some_and(|rex| rex & 8 != 0);
    (wide && before.opcode != 0x0f) || is_near_branch(instruction)
}

/// Returns whether REPNE before an instruction asks for bounds to be kept.
pub(crate) fn keeps_bounds(instruction: &Instruction) -> bool {
    is_near_branch(instruction) || instruction.code().is_jcc_short_or_near()
}

fn is_near_branch(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Call | Mnemonic::Jmp | Mnemonic::Ret
    ) && !instruction.code().is_jmp_far()
        && !instruction.code().is_call_far()
}
