//! A borrowed array of 64-bit words in the recorder's byte order.

use crate::Endian;

/// 64-bit words inside a record; a trailing part word is not seen.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Words<'a> {
    /// Views `bytes` as words.
    #[inline]
    pub fn new(bytes: &'a [u8], endian: Endian) -> Words<'a> {
        Words { bytes, endian }
    }

    /// The byte order of the words.
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Number of words.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// Returns whether there is no word.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<u64> {
        let bytes = self.bytes.get(index.checked_mul(8)?..)?.first_chunk()?;
        Some(self.endian.u64(*bytes))
    }

    /// All words in order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + use<'a> {
        let endian = self.endian;
        self.bytes.chunks_exact(8).map(move |chunk| {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            endian.u64(word)
        })
    }

    /// The bytes behind the words.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl PartialEq for Words<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Words<'_> {}
