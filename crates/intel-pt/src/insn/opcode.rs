//! Prefixes and the opcode behind them.

use super::cursor::Cursor;
use super::layout::{Layout, ModRm, NOT_IN_64_BIT, ONE, TWO};
use crate::packet::ExecMode;

/// What prefixes change, and the mode that they change it from.
#[derive(Clone, Copy)]
pub(super) struct Prefixes {
    mode: ExecMode,
    /// The operand size is not the mode's (66).
    pub(super) operand: bool,
    address: bool,
    wide: bool,
    /// The last of F2 and F3.
    pub(super) repeat: Option<u8>,
}

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

impl Prefixes {
    /// Reads prefixes up to the opcode. A REX prefix counts only right before it.
    pub(super) fn read(cursor: &mut Cursor<'_>, mode: ExecMode) -> Option<Prefixes> {
        let none = Prefixes {
            mode,
            operand: false,
            address: false,
            wide: false,
            repeat: None,
        };
        let mut prefixes = none;
        loop {
            let byte = cursor.peek()?;
            match byte {
                0x66 => prefixes.operand = true,
                0x67 => prefixes.address = true,
                0xf2 | 0xf3 => prefixes.repeat = Some(byte),
                0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 => {}
                0x40..=0x4f if mode == ExecMode::Bits64 => {}
                _ => return Some(prefixes),
            }
            prefixes.wide = byte & 0xf8 == 0x48 && mode == ExecMode::Bits64;
            cursor.skip(1)?;
        }
    }

    /// Reads the opcode, with what stands between the prefixes and it.
    pub(super) fn opcode(&mut self, cursor: &mut Cursor<'_>) -> Option<Opcode> {
        let first = cursor.byte()?;
        match first {
            0x0f => Prefixes::behind_escape(cursor),
            0xd5 if self.mode == ExecMode::Bits64 => self.behind_rex2(cursor),
            0x62 | 0xc4 | 0xc5 if self.mode == ExecMode::Bits64 || cursor.peek()? >= 0xc0 => {
                self.behind_vex(first, cursor)
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

    fn behind_rex2(&mut self, cursor: &mut Cursor<'_>) -> Option<Opcode> {
        let payload = cursor.byte()?;
        self.wide = payload & 8 != 0;
        match (payload & 0x80 != 0, cursor.byte()?) {
            (true, opcode) => Some(Opcode::Two(opcode)),
            (false, 0xa1) => Some(Opcode::JumpAbsolute),
            (false, opcode) => Some(Opcode::One(opcode)),
        }
    }

    fn behind_vex(&mut self, first: u8, cursor: &mut Cursor<'_>) -> Option<Opcode> {
        let payload = cursor.byte()?;
        let map = match first {
            0xc5 => 1,
            0xc4 => payload & 0x1f,
            _ => payload & 7,
        };
        if first != 0xc5 {
            let second = cursor.byte()?;
            self.wide = second & 0x80 != 0;
            self.operand = second & 3 == 1;
        }
        if first == 0x62 {
            cursor.skip(1)?;
        }
        Some(Opcode::Vector(map, cursor.byte()?))
    }

    /// Bytes of an address: 2, 4 or 8.
    pub(super) fn address_bytes(&self) -> usize {
        match (self.mode, self.address) {
            (ExecMode::Bits16, false) | (ExecMode::Bits32, true) => 2,
            (ExecMode::Bits64, false) => 8,
            _ => 4,
        }
    }

    /// Bytes of an operand: 2, 4 or 8.
    pub(super) fn operand_bytes(&self) -> usize {
        match (self.mode, self.operand) {
            _ if self.wide => 8,
            (ExecMode::Bits16, false) | (ExecMode::Bits32 | ExecMode::Bits64, true) => 2,
            _ => 4,
        }
    }

    /// Bytes of the distance in a near branch: 64-bit code knows one size.
    pub(super) fn distance_bytes(&self) -> usize {
        match self.mode {
            ExecMode::Bits64 => 4,
            _ => self.operand_bytes(),
        }
    }

    /// Whether EXTRQ and INSERTQ have their immediate.
    pub(super) fn extracts(&self) -> bool {
        self.operand || self.repeat == Some(0xf2)
    }
}

impl Opcode {
    /// What follows; `None` where there is no instruction. As in perf, opcodes that the processor does not know stand
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

/// Whether VEX and EVEX make a vector instruction of one behind 0F: those without operands they do not, but VZEROUPPER.
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
