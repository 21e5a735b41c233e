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
}

/// Why a word of the stack cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoWord {
    /// It lies behind the end of the copy: a larger copy would hold it.
    BehindCopy,
    /// It lies below the stack pointer, or nowhere near it.
    Elsewhere,
}

/// How far behind the end of the copy an address may be to count as one of the same stack.
const LARGEST_STACK: u64 = 1 << 30;

impl StackCopy<'_> {
    /// The word of eight bytes at an address.
    #[inline]
    pub(crate) fn word(&self, address: u64) -> Result<u64, NoWord> {
        let distance = address.wrapping_sub(self.start);
        let at = usize::try_from(distance).ok();
        let word = at.and_then(|at| self.bytes.get(at..)).and_then(<[u8]>::first_chunk::<8>);
        match word {
            Some(word) => Ok(self.number(*word)),
            None if distance < LARGEST_STACK => Err(NoWord::BehindCopy),
            None => Err(NoWord::Elsewhere),
        }
    }

    /// A number of these bytes.
    #[inline]
    pub(crate) fn number(&self, bytes: [u8; 8]) -> u64 {
        if self.little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lie_inside_the_copy() {
        let bytes: Vec<u8> = (0..16).collect();
        let stack = StackCopy { start: 0x1000, bytes: &bytes, little_endian: true };
        assert_eq!(stack.word(0x1000), Ok(0x0706_0504_0302_0100));
        assert_eq!(stack.word(0x1008), Ok(0x0f0e_0d0c_0b0a_0908));
        assert_eq!(stack.word(0x1009), Err(NoWord::BehindCopy));
        assert_eq!(stack.word(0xfff), Err(NoWord::Elsewhere));
        assert_eq!(stack.word(u64::MAX), Err(NoWord::Elsewhere));
        let stack = StackCopy { start: u64::MAX - 3, bytes: &bytes, little_endian: false };
        assert_eq!(stack.word(4), Ok(0x0809_0a0b_0c0d_0e0f));
    }
}
