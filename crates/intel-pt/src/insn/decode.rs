//! The length of an instruction and what it does to the flow of control.

use super::layout::{Immediate, Layout, NOT_IN_64_BIT, ONE, TWO};
use super::{Class, Instruction};
use crate::packet::ExecMode;

/// The longest instruction.
const LONGEST: usize = 15;

/// The instruction at the beginning of `bytes`; `None` if they end inside it or are none.
///
/// Beyond its length, an instruction is checked no further than its class needs.
///
/// ```
/// use intel_pt::insn::{Class, classify};
/// use intel_pt::packet::ExecMode;
/// let call = classify(&[0xe8, 0x10, 0x00, 0x00, 0x00], ExecMode::Bits64).unwrap();
/// assert_eq!((call.length, call.class, call.relative), (5, Class::Call, 16));
/// ```
pub fn classify(bytes: &[u8], mode: ExecMode) -> Option<Instruction> {
    let mut cursor = Cursor { bytes: &bytes[..bytes.len().min(LONGEST)], at: 0 };
    let mut prefixes = Prefixes::read(&mut cursor, mode)?;
    let (map, opcode) = prefixes.opcode(&mut cursor, mode)?;
    let layout = layout(map, opcode, &prefixes, mode)?;
    let modrm = if layout.modrm { cursor.peek()? } else { 0 };
    if layout.modrm {
        cursor.skip_modrm(prefixes.address_bytes(mode))?;
    }
    let relative = cursor.immediate(layout.immediate, modrm, &prefixes, mode)?;
    let class = class(map, opcode, cursor.bytes.get(cursor.at - 1).copied().filter(|_| !layout.modrm), modrm, &prefixes);
    Some(Instruction { length: cursor.at as u8, class, relative })
}
