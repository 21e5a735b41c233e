//! The copy of a thread's stack that a sample holds.

/// Bytes of a stack from the stack pointer upwards.
#[derive(Clone, Copy, Debug)]
pub struct StackCopy<'a> {
    /// The address of the first byte: the stack pointer of the moment.
    pub start: u64,
    /// The bytes that the kernel could copy.
    pub bytes: &'a [u8],
    /// Their order in a number.
    pub little_endian: bool,
    /// Number of bytes that a word has: 8, or 4 of a 32-bit program.
    pub word_size: u8,
}

/// The reason why a word of the stack cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoWord {
    /// It lies behind the end of the copy: a larger copy would hold it.
    BehindCopy,
    /// It lies below the stack pointer, or nowhere near it.
    Elsewhere,
}

/// Distance behind the end of the copy up to which an address counts as one of the same stack.
const LARGEST_STACK: u64 = 1 << 30;

impl StackCopy<'_> {
    /// The word at an address.
    #[inline]
    pub(crate) fn word(&self, address: u64) -> Result<u64, NoWord> {
        let distance = address.wrapping_sub(self.start);
        let at = usize::try_from(distance).ok();
        let rest = at.and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        match self.number(rest) {
            Some(word) => Ok(word),
            None if distance < LARGEST_STACK => Err(NoWord::BehindCopy),
            None => Err(NoWord::Elsewhere),
        }
    }

    /// The word that these bytes begin with.
    #[inline]
    pub(crate) fn number(&self, bytes: &[u8]) -> Option<u64> {
        Some(match (self.word_size, self.little_endian) {
            (4, true) => u32::from_le_bytes(*bytes.first_chunk()?).into(),
            (4, false) => u32::from_be_bytes(*bytes.first_chunk()?).into(),
            (_, true) => u64::from_le_bytes(*bytes.first_chunk()?),
            (_, false) => u64::from_be_bytes(*bytes.first_chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lie_inside_the_copy() {
        let bytes: Vec<u8> = (0..16).collect();
        let stack = StackCopy {
            start: 0x1000,
            bytes: &bytes,
            little_endian: true,
            word_size: 8,
        };
        assert_eq!(stack.word(0x1000), Ok(0x0706_0504_0302_0100));
        assert_eq!(stack.word(0x1008), Ok(0x0f0e_0d0c_0b0a_0908));
        assert_eq!(stack.word(0x1009), Err(NoWord::BehindCopy));
        assert_eq!(stack.word(0xfff), Err(NoWord::Elsewhere));
        assert_eq!(stack.word(u64::MAX), Err(NoWord::Elsewhere));
        let stack = StackCopy {
            start: u64::MAX - 3,
            bytes: &bytes,
            little_endian: false,
            word_size: 8,
        };
        assert_eq!(stack.word(4), Ok(0x0809_0a0b_0c0d_0e0f));
        let stack = StackCopy {
            start: 0x1000,
            bytes: &bytes,
            little_endian: true,
            word_size: 4,
        };
        assert_eq!(stack.word(0x100c), Ok(0x0f0e_0d0c));
        assert_eq!(stack.word(0x100d), Err(NoWord::BehindCopy));
    }
}
