//! A 64-bit number without alignment, so that a byte beside it does not cost eight.

use std::fmt;

/// Keeps [`Packet`](super::Packet) at 16 bytes: payload types of a byte and a number leave room for the variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Word([u8; 8]);

impl Word {
    #[inline]
    pub(super) const fn new(value: u64) -> Word {
        Word(value.to_le_bytes())
    }

    #[inline]
    pub(super) const fn get(self) -> u64 {
        u64::from_le_bytes(self.0)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.get())
    }
}
