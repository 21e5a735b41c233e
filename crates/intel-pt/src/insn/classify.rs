//! The length of an instruction and what it does to the flow of control.

use super::cursor::Cursor;
use super::layout::ModRm;
use super::opcode::Opcode;
use super::prefixes::Prefixes;
use super::{Class, Instruction};
use crate::packet::ExecMode;

/// The instruction at the beginning of `bytes`; `None` if they end inside it or are none.
///
/// No more of an instruction is checked than its length and class need: what the processor refuses may have a length
/// here, and an unknown opcode stands alone.
///
/// ```
/// use intel_pt::insn::{Class, classify};
/// use intel_pt::packet::ExecMode;
/// let call = classify(&[0xe8, 0x10, 0x00, 0x00, 0x00], ExecMode::Bits64).unwrap();
/// assert_eq!((call.length, call.class, call.relative), (5, Class::Call, 16));
/// ```
pub fn classify(bytes: &[u8], mode: ExecMode) -> Option<Instruction> {
    let mut cursor = Cursor::new(bytes);
    let mut prefixes = cursor.prefixes(mode)?;
    let opcode = Opcode::read(&mut cursor, &mut prefixes)?;
    let layout = opcode.layout(mode)?;
    let modrm = match layout.modrm {
        ModRm::Absent => 0,
        _ => cursor.peek()?,
    };
    match layout.modrm {
        ModRm::Absent => {}
        ModRm::Registers => cursor.skip(1)?,
        ModRm::Full => cursor.skip_operands(prefixes.address_bytes())?,
    }
    let relative = cursor.immediate(layout.immediate, modrm, &prefixes)?;
    Some(Instruction {
        length: cursor.length(),
        class: class(opcode, modrm, &prefixes),
        relative,
    })
}

fn class(opcode: Opcode, modrm: u8, prefixes: &Prefixes) -> Class {
    match opcode {
        Opcode::One(opcode) => one_byte(opcode, modrm),
        Opcode::Two(opcode) => two_bytes(opcode, modrm, prefixes),
        Opcode::JumpAbsolute => Class::JumpIndirect,
        _ => Class::Other,
    }
}

fn one_byte(opcode: u8, modrm: u8) -> Class {
    match (opcode, field(modrm)) {
        (0x70..=0x7f | 0xe3, _) => Class::Conditional,
        (0xe0..=0xe2, _) => Class::Loop,
        (0xe9 | 0xeb, _) => Class::Jump,
        (0xea, _) | (0xff, 4 | 5) => Class::JumpIndirect,
        (0xe8, _) => Class::Call,
        (0x9a, _) | (0xff, 2 | 3) => Class::CallIndirect,
        (0xc2 | 0xc3 | 0xca | 0xcb, _) => Class::Return,
        (0xcc..=0xce | 0xf1, _) => Class::Interrupt,
        (0xcf, _) => Class::InterruptReturn,
        _ => Class::Other,
    }
}

fn two_bytes(opcode: u8, modrm: u8, prefixes: &Prefixes) -> Class {
    match (opcode, prefixes.repeat) {
        (0x80..=0x8f, _) => Class::Conditional,
        (0x05 | 0x34, _) => Class::Syscall,
        (0x07 | 0x35, _) => Class::SysReturn,
        (0x01, None) if matches!(modrm, 0xc2 | 0xc3) => Class::VmEntry,
        (0x01, Some(0xf2)) if modrm == 0xca => Class::EventReturnSupervisor,
        (0x01, Some(0xf3)) if modrm == 0xca => Class::EventReturnUser,
        (0x01, Some(0xf3)) if modrm == 0xec => Class::InterruptReturn,
        (0xae, Some(0xf3)) if field(modrm) == 4 && !prefixes.operand => Class::PtWrite,
        _ => Class::Other,
    }
}

/// The register field of ModRM, which distinguishes instructions that share an opcode.
fn field(modrm: u8) -> u8 {
    modrm >> 3 & 7
}
