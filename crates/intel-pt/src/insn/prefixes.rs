//! Prefixes of an instruction.

use crate::packet::ExecMode;

/// The effect of prefixes, and the mode that they change.
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

impl Prefixes {
    /// No prefixes.
    pub(super) fn none(mode: ExecMode) -> Prefixes {
        Prefixes {
            mode,
            operand: false,
            address: false,
            wide: false,
            repeat: None,
        }
    }

    /// Adds a byte, if it is a prefix; true if it is. A REX prefix counts only right before the opcode.
    pub(super) fn add(&mut self, byte: u8) -> bool {
        match byte {
            0x66 => self.operand = true,
            0x67 => self.address = true,
            0xf2 | 0xf3 => self.repeat = Some(byte),
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 => {}
            0x40..=0x4f if self.is_64_bit() => {}
            _ => return false,
        }
        self.wide = byte & 0xf8 == 0x48 && self.is_64_bit();
        true
    }

    pub(super) fn is_64_bit(&self) -> bool {
        self.mode == ExecMode::Bits64
    }

    /// Sets the width of operands, 64 bits or less, as a prefix of the opcode gives it.
    pub(super) fn set_wide(&mut self, wide: bool) {
        self.wide = wide;
    }

    /// Sets the operand size, the mode's or the other one, as a prefix of the opcode gives it.
    pub(super) fn set_operand(&mut self, operand: bool) {
        self.operand = operand;
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

    /// True if EXTRQ and INSERTQ have their immediate.
    pub(super) fn extracts(&self) -> bool {
        self.operand || self.repeat == Some(0xf2)
    }
}
