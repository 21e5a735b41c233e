//! Instructions in the code of a recording, for commands that show code that no trace led through.

use intel_pt::insn::{Flow, classify};
use intel_pt::packet::ExecMode;
use oxperf_session::CodeWidth;

/// Code from an address on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeBytes {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its width, as its file says.
    pub width: CodeWidth,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeInstruction {
    /// Bytes that it has.
    pub length: usize,
    /// It always branches: the instruction behind it does not run next.
    pub always_branches: bool,
}

impl CodeInstruction {
    /// The longest, in bytes.
    pub const LONGEST: usize = 15;

    /// The instruction at the beginning of `bytes`; `None` if they end inside it or are none.
    pub fn first_of(bytes: &[u8], width: CodeWidth) -> Option<CodeInstruction> {
        let found = classify(bytes, exec_mode(width))?;
        let always_branches = matches!(found.class.flow(), Flow::Direct | Flow::Indirect);
        Some(CodeInstruction {
            length: usize::from(found.length),
            always_branches,
        })
    }
}

/// The width as samples hold it.
pub(crate) fn code_width(mode: ExecMode) -> CodeWidth {
    match mode {
        ExecMode::Bits16 => CodeWidth::Bits16,
        ExecMode::Bits32 => CodeWidth::Bits32,
        ExecMode::Bits64 => CodeWidth::Bits64,
    }
}

fn exec_mode(width: CodeWidth) -> ExecMode {
    match width {
        CodeWidth::Bits16 => ExecMode::Bits16,
        CodeWidth::Bits32 => ExecMode::Bits32,
        CodeWidth::Bits64 => ExecMode::Bits64,
    }
}

/// The width of the code of a file, by the class in its ELF header.
pub(super) fn width_of_file(bytes: &[u8]) -> CodeWidth {
    const CLASS_32: u8 = 1;
    let is_elf = bytes.starts_with(b"\x7fELF");
    if is_elf && bytes.get(4) == Some(&CLASS_32) {
        CodeWidth::Bits32
    } else {
        CodeWidth::Bits64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_differ_with_the_width() {
        let first = |width| CodeInstruction::first_of(&[0x48, 0xc3, 0x90], width);
        let found = |length, always_branches| {
            Some(CodeInstruction {
                length,
                always_branches,
            })
        };
        assert_eq!(first(CodeWidth::Bits64), found(2, true));
        assert_eq!(first(CodeWidth::Bits32), found(1, false));
        assert_eq!(
            CodeInstruction::first_of(&[0xe8, 0, 0], CodeWidth::Bits64),
            None
        );
    }

    #[test]
    fn the_elf_class_is_the_width() {
        assert_eq!(width_of_file(b"\x7fELF\x01"), CodeWidth::Bits32);
        assert_eq!(width_of_file(b"\x7fELF\x02"), CodeWidth::Bits64);
        assert_eq!(width_of_file(b""), CodeWidth::Bits64);
    }
}
