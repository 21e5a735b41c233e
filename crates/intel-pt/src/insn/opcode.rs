//! The opcode behind the prefixes.

use super::cursor::Cursor;
use super::layout::{Layout, ModRm, NOT_IN_64_BIT, ONE, TWO};
use super::prefixes::Prefixes;
use crate::packet::ExecMode;

/// An opcode in its map.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    One(u8),
    /// Behind 0F.
    Two(u8),
    /// Behind 0F 38.
    Three38,
    /// Behind 0F 3A.
    Three3A,
    /// Behind VEX or EVEX: the number of the map and the opcode in it.
    Vector(u8, u8),
    /// Behind XOP: the number of the map.
    Xop(u8),
    /// The jump to an address of 64 bits, which only REX2 makes.
    JumpAbsolute,
}

impl Opcode {
    /// Reads the opcode, and the bytes between the prefixes and it.
    pub(super) fn read(cursor: &mut Cursor<'_>, prefixes: &mut Prefixes) -> Option<Opcode> {
        let first = cursor.byte()?;
        match first {
            0x0f => Opcode::behind_escape(cursor),
            0xd5 if prefixes.is_64_bit() => Opcode::behind_rex2(cursor, prefixes),
            0x62 | 0xc4 | 0xc5 if prefixes.is_64_bit() || cursor.peek()? >= 0xc0 => {
                Opcode::behind_vex(first, cursor, prefixes)
            }
            0x8f if cursor.peek()? & 0x1f >= 8 => {
                let map = cursor.byte()? & 0x1f;
                cursor.skip(2)?;
                Some(Opcode::Xop(map))
            }
            _ => Some(Opcode::One(first)),
        }
    }

    fn behind_escape(cursor: &mut Cursor<'_>) -> Option<Opcode> {
        match cursor.byte()? {
            0x38 => cursor.skip(1).map(|()| Opcode::Three38),
            0x3a => cursor.skip(1).map(|()| Opcode::Three3A),
            opcode => Some(Opcode::Two(opcode)),
        }
    }

    fn behind_rex2(cursor: &mut Cursor<'_>, prefixes: &mut Prefixes) -> Option<Opcode> {
        let payload = cursor.byte()?;
        prefixes.set_wide(payload & 8 != 0);
        match (payload & 0x80 != 0, cursor.byte()?) {
            (true, opcode) => Some(Opcode::Two(opcode)),
            (false, 0xa1) => Some(Opcode::JumpAbsolute),
            (false, opcode) => Some(Opcode::One(opcode)),
        }
    }

    fn behind_vex(first: u8, cursor: &mut Cursor<'_>, prefixes: &mut Prefixes) -> Option<Opcode> {
        let payload = cursor.byte()?;
        let map = match first {
            0xc5 => 1,
            0xc4 => payload & 0x1f,
            _ => payload & 7,
        };
        if first != 0xc5 {
            let second = cursor.byte()?;
            prefixes.set_wide(second & 0x80 != 0);
            prefixes.set_operand(second & 3 == 1);
        }
        if first == 0x62 {
            cursor.skip(1)?;
        }
        Some(Opcode::Vector(map, cursor.byte()?))
    }

    /// The bytes that follow; `None` where there is no instruction. As in perf, opcodes that the processor does not know stand
    /// alone: where a damaged trace leads into the middle of an instruction, both go on in the same way.
    pub(super) fn layout(self, mode: ExecMode) -> Option<Layout> {
        match self {
            Opcode::One(opcode) if mode == ExecMode::Bits64 && NOT_IN_64_BIT.contains(&opcode) => {
                Some(Layout::ALONE)
            }
            Opcode::One(opcode) => Layout::of(&ONE, opcode).or(Some(Layout::ALONE)),
            Opcode::Two(opcode) => Layout::of(&TWO, opcode).or(Some(Layout::ALONE)),
            Opcode::Vector(1, opcode) => {
                Layout::of(&TWO, opcode).filter(|layout| is_vector(opcode, layout))
            }
            Opcode::Vector(4, opcode) => Some(promoted(opcode)),
            Opcode::Three38 | Opcode::Vector(2 | 5 | 6, _) | Opcode::Xop(9) => {
                Some(Layout::OPERANDS)
            }
            Opcode::Three3A | Opcode::Vector(3, _) | Opcode::Xop(8) => Some(Layout::OPERANDS_BYTE),
            Opcode::Vector(7, _) | Opcode::Xop(10) => Some(Layout::OPERANDS_DOUBLE),
            Opcode::Vector(..) | Opcode::Xop(_) => None,
            Opcode::JumpAbsolute => Some(Layout::ADDRESS),
        }
    }
}

/// True if VEX and EVEX make a vector instruction of one behind 0F: those without operands they do not, but VZEROUPPER.
fn is_vector(opcode: u8, layout: &Layout) -> bool {
    layout.modrm == ModRm::Full || opcode == 0x77
}

/// Integer instructions with an EVEX prefix, in map 4: as without it, but double shifts have opcodes of their own.
fn promoted(opcode: u8) -> Layout {
    match opcode {
        0x24 | 0x2c | 0xa4 | 0xac => Layout::OPERANDS_BYTE,
        _ => Layout::of(&ONE, opcode)
            .filter(|layout| layout.modrm == ModRm::Full)
            .unwrap_or(Layout::OPERANDS),
    }
}
