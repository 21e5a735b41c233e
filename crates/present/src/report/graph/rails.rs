//! The lines to the left of branches.

use crate::text::number::pad;

/// The levels of a fork that still have a line to the left, as bits.
#[derive(Clone, Copy)]
pub(super) struct Rails {
    depth: u32,
    bits: u32,
}

/// perf keeps the rails in a word of 32 bits that it shifts by the depth: below level 32 they begin anew. The text is
/// the same here.
impl Rails {
    /// The line of the first fork.
    pub(super) const FIRST: Rails = Rails { depth: 1, bits: 1 };

    fn bit(level: u32) -> u32 {
        1u32.wrapping_shl(level)
    }

    /// The last level has no further branch.
    pub(super) fn without_last(self) -> Rails {
        Rails {
            bits: self.bits & !Rails::bit(self.depth - 1),
            ..self
        }
    }

    /// One level more.
    pub(super) fn deeper(self) -> Rails {
        Rails {
            depth: self.depth + 1,
            bits: self.bits | Rails::bit(self.depth),
        }
    }

    fn rail(self, level: u32) -> u8 {
        if self.bits & Rails::bit(level) != 0 {
            b'|'
        } else {
            b' '
        }
    }

    /// Appends the line between branches.
    pub(super) fn separator(self, buffer: &mut Vec<u8>, margin: usize) {
        self.indent(buffer, margin);
        buffer.push(b'\n');
    }

    /// Appends the text before a line that goes on with a branch.
    pub(super) fn indent(self, buffer: &mut Vec<u8>, margin: usize) {
        self.lead(buffer, margin);
        pad(buffer, 10);
    }

    /// Appends the text before the first line of a branch.
    pub(super) fn lead(self, buffer: &mut Vec<u8>, margin: usize) {
        pad(buffer, margin);
        for level in 0..self.depth {
            buffer.push(self.rail(level));
            if level + 1 < self.depth {
                pad(buffer, 10);
            }
        }
    }
}
