//! PTWRITE where the processor has none: a jump over a mark, followed by 64 branches whose outcomes are the value.

use super::{Class, Instruction};

/// The bytes that the jump skips.
const MARK: &[u8; 16] = b"\x0f\x0bperf,ptwrite  ";

/// True if `instruction`, which `behind` follows, announces an emulated PTWRITE.
pub fn announces_emulated_ptwrite(instruction: Instruction, behind: &[u8]) -> bool {
    instruction.class == Class::Jump
        && usize::try_from(instruction.relative) == Ok(MARK.len())
        && behind.starts_with(MARK)
}
