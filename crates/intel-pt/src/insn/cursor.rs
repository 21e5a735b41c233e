//! Walking over the bytes of one instruction.

use super::layout::Immediate;
use super::prefixes::Prefixes;
use crate::packet::ExecMode;

/// The bytes of an instruction, and how far they are read. Everything is `None` where they end too early.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The longest instruction.
    const LONGEST: usize = 15;

    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor {
            bytes: &bytes[..bytes.len().min(Cursor::LONGEST)],
            at: 0,
        }
    }

    /// Bytes that were read.
    pub(super) fn length(&self) -> u8 {
        self.at as u8
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at = (self.at + bytes <= self.bytes.len()).then_some(self.at + bytes)?;
        Some(())
    }

    /// Reads prefixes up to the opcode.
    pub(super) fn prefixes(&mut self, mode: ExecMode) -> Option<Prefixes> {
        let mut prefixes = Prefixes::none(mode);
        while prefixes.add(self.peek()?) {
            self.skip(1)?;
        }
        Some(prefixes)
    }

    /// Skips a ModRM byte with what it asks for.
    pub(super) fn skip_operands(&mut self, address_bytes: usize) -> Option<()> {
        let modrm = self.byte()?;
        let (mode, register) = (modrm >> 6, modrm & 7);
        let wide = address_bytes > 2;
        let base = match register {
            4 if wide && mode < 3 => self.byte()? & 7,
            other => other,
        };
        let displacement = match mode {
            0 if wide && base == 5 => 4,
            0 if !wide && base == 6 => 2,
            1 => 1,
            2 if wide => 4,
            2 => 2,
            _ => 0,
        };
        self.skip(displacement)
    }

    /// Reads what follows the operands; the value of a distance, 0 for anything else.
    pub(super) fn immediate(
        &mut self,
        immediate: Immediate,
        modrm: u8,
        prefixes: &Prefixes,
    ) -> Option<i32> {
        let is_test = modrm >> 3 & 7 < 2;
        let word = prefixes.operand_bytes().min(4);
        let bytes = match immediate {
            Immediate::Near => return self.distance(1),
            Immediate::Distant => return self.distance(prefixes.distance_bytes()),
            Immediate::Byte => 1,
            Immediate::Half => 2,
            Immediate::Word => word,
            Immediate::Full => prefixes.operand_bytes(),
            Immediate::Double => 4,
            Immediate::Quad => 8,
            Immediate::Offset => prefixes.address_bytes(),
            Immediate::Far => word + 2,
            Immediate::Enter => 3,
            Immediate::TestByte if is_test => 1,
            Immediate::TestWord if is_test => word,
            Immediate::Extract if prefixes.extracts() => 2,
            Immediate::None | Immediate::TestByte | Immediate::TestWord | Immediate::Extract => 0,
        };
        self.skip(bytes).map(|()| 0)
    }

    /// Reads a distance of 1, 2 or 4 bytes.
    fn distance(&mut self, bytes: usize) -> Option<i32> {
        let mut extended = [0; 4];
        extended[4 - bytes..].copy_from_slice(self.bytes.get(self.at..self.at + bytes)?);
        self.at += bytes;
        Some(i32::from_le_bytes(extended) >> (32 - 8 * bytes))
    }
}
