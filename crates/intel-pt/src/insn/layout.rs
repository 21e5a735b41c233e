//! The bytes behind an opcode, in maps to be read beside the manual's.

/// The bytes behind an opcode.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) modrm: ModRm,
    pub(super) immediate: Immediate,
}

/// True if a ModRM byte follows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ModRm {
    Absent,
    /// It names registers, whatever its mode field says.
    Registers,
    /// It may ask for a SIB byte and a displacement.
    Full,
}

/// The immediate behind that.
#[derive(Clone, Copy)]
pub(super) enum Immediate {
    None,
    Byte,
    Half,
    /// Two or four bytes, as the operand size says.
    Word,
    /// Two, four or eight bytes, as the operand size says.
    Full,
    /// Four bytes.
    Double,
    /// Eight bytes.
    Quad,
    /// A byte of distance.
    Near,
    /// Two or four bytes of distance.
    Distant,
    /// An address, as the address size says.
    Offset,
    /// A segment and an offset in it.
    Far,
    /// ENTER: two bytes and one.
    Enter,
    /// TEST among its neighbours: a byte, if the register field of ModRM is 0 or 1.
    TestByte,
    /// TEST among its neighbours: a word, if the register field of ModRM is 0 or 1.
    TestWord,
    /// EXTRQ and INSERTQ: two bytes, behind the prefix 66 or F2.
    Extract,
}

/// Rows of sixteen opcodes, a letter each; [`Layout::of`] says what the letters mean.
pub(super) type Map = [&'static [u8; 16]; 16];

/// One-byte opcodes. Prefixes and escapes have no layout.
pub(super) const ONE: Map = [
    b"mmmmbz..mmmmbz.-",
    b"mmmmbz..mmmmbz..",
    b"mmmmbz-.mmmmbz-.",
    b"mmmmbz-.mmmmbz-.",
    b"................",
    b"................",
    b"..mm----zZbB....",
    b"rrrrrrrrrrrrrrrr",
    b"BZBBmmmmmmmmmmmm",
    b"..........f.....",
    b"oooo....bz......",
    b"bbbbbbbbvvvvvvvv",
    b"BBh.mmBZe.h..b..",
    b"mmmmbb..mmmmmmmm",
    b"rrrrbbbbRRfr....",
    b"-.--..TU......mm",
];

/// Opcodes behind 0F.
pub(super) const TWO: Map = [
    b"mmmm-.....-.-m.B",
    b"mmmmmmmmmmmmmmmm",
    b"cccc----mmmmmmmm",
    b"......-.--------",
    b"mmmmmmmmmmmmmmmm",
    b"mmmmmmmmmmmmmmmm",
    b"mmmmmmmmmmmmmmmm",
    b"BBBBmmm.xmmmmmmm",
    b"RRRRRRRRRRRRRRRR",
    b"mmmmmmmmmmmmmmmm",
    b"...mBmmm...mBmmm",
    b"mmmmmmmmmmBmmmmm",
    b"mmBmBBBm........",
    b"mmmmmmmmmmmmmmmm",
    b"mmmmmmmmmmmmmmmm",
    b"mmmmmmmmmmmmmmmm",
];

/// One-byte opcodes that 64-bit code does not have.
pub(super) const NOT_IN_64_BIT: [u8; 18] = [
    0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37, 0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce,
    0xd4, 0xea,
];

impl Layout {
    pub(super) const ALONE: Layout = Layout {
        modrm: ModRm::Absent,
        immediate: Immediate::None,
    };
    pub(super) const OPERANDS: Layout = Layout {
        modrm: ModRm::Full,
        immediate: Immediate::None,
    };
    pub(super) const OPERANDS_BYTE: Layout = Layout {
        modrm: ModRm::Full,
        immediate: Immediate::Byte,
    };
    pub(super) const OPERANDS_DOUBLE: Layout = Layout {
        modrm: ModRm::Full,
        immediate: Immediate::Double,
    };

    pub(super) const ADDRESS: Layout = Layout {
        modrm: ModRm::Absent,
        immediate: Immediate::Quad,
    };

    /// The layout of `opcode`; `None` where there is no instruction.
    pub(super) fn of(map: &Map, opcode: u8) -> Option<Layout> {
        let (modrm, immediate) = match map[usize::from(opcode >> 4)][usize::from(opcode & 0xf)] {
            b'.' => (ModRm::Absent, Immediate::None),
            b'b' => (ModRm::Absent, Immediate::Byte),
            b'h' => (ModRm::Absent, Immediate::Half),
            b'z' => (ModRm::Absent, Immediate::Word),
            b'v' => (ModRm::Absent, Immediate::Full),
            b'r' => (ModRm::Absent, Immediate::Near),
            b'R' => (ModRm::Absent, Immediate::Distant),
            b'o' => (ModRm::Absent, Immediate::Offset),
            b'f' => (ModRm::Absent, Immediate::Far),
            b'e' => (ModRm::Absent, Immediate::Enter),
            b'c' => (ModRm::Registers, Immediate::None),
            b'm' => (ModRm::Full, Immediate::None),
            b'B' => (ModRm::Full, Immediate::Byte),
            b'Z' => (ModRm::Full, Immediate::Word),
            b'T' => (ModRm::Full, Immediate::TestByte),
            b'U' => (ModRm::Full, Immediate::TestWord),
            b'x' => (ModRm::Full, Immediate::Extract),
            _ => return None,
        };
        Some(Layout { modrm, immediate })
    }
}
