//! Reading numbers off the front of a byte slice.

use crate::{Endian, WireError};

/// A position in borrowed bytes; every read checks its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// Starts at the first of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8], endian: Endian) -> Cursor<'a> {
        Cursor {
            bytes,
            position: 0,
            endian,
        }
    }

    /// The byte order of the numbers.
    #[inline]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Takes the next `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let Some(taken) = self.bytes[self.position..].get(..count) else {
            return Err(self.truncated(count as u64));
        };
        self.position += count;
        Ok(taken)
    }

    /// Takes `count` items of `size` bytes each.
    #[inline]
    pub fn items(&mut self, count: u64, size: usize) -> Result<&'a [u8], WireError> {
        let total = count
            .checked_mul(size as u64)
            .and_then(|total| usize::try_from(total).ok());
        match total {
            Some(total) => self.bytes(total),
            None => Err(self.truncated(u64::MAX)),
        }
    }

    /// Takes all that is left.
    #[inline]
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.position..];
        self.position = self.bytes.len();
        rest
    }

    #[cold]
    fn truncated(&self, wanted: u64) -> WireError {
        WireError::Truncated {
            offset: self.position,
            wanted,
            left: self.remaining(),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.bytes[self.position..].first_chunk::<N>() {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.truncated(N as u64)),
        }
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads a 16-bit number.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(|bytes| self.endian.u16(bytes))
    }

    /// Reads a 32-bit number.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(|bytes| self.endian.u32(bytes))
    }

    /// Reads a 64-bit number.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(|bytes| self.endian.u64(bytes))
    }

    /// Reads a signed 32-bit number.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, WireError> {
        self.u32().map(u32::cast_signed)
    }

    /// Reads a string up to its NUL, then skips to the next multiple of 8 counted from the string's start
    /// (or to the end, if the padding is cut).
    pub fn c_string(&mut self) -> Result<&'a [u8], WireError> {
        let rest = &self.bytes[self.position..];
        let Some(len) = rest.iter().position(|byte| *byte == 0) else {
            return Err(WireError::UnterminatedString {
                offset: self.position,
            });
        };
        self.position += (len + 1).next_multiple_of(8).min(rest.len());
        Ok(&rest[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_byte_order() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(Cursor::new(&bytes, Endian::Big).u32(), Ok(0x0102_0304));
        assert_eq!(
            Cursor::new(&bytes, Endian::Little).u64(),
            Ok(0x0807_0605_0403_0201)
        );
    }

    #[test]
    fn reading_past_the_end_says_where() {
        let mut cursor = Cursor::new(&[0; 6], Endian::Little);
        cursor.u32().unwrap();
        assert_eq!(
            cursor.u32(),
            Err(WireError::Truncated {
                offset: 4,
                wanted: 4,
                left: 2
            })
        );
        assert_eq!(
            cursor.items(u64::MAX, 8).unwrap_err(),
            WireError::Truncated {
                offset: 4,
                wanted: u64::MAX,
                left: 2
            }
        );
    }

    #[test]
    fn strings_skip_their_padding() {
        let mut cursor = Cursor::new(b"abc\0\0\0\0\0xyz\0", Endian::Little);
        assert_eq!(cursor.c_string(), Ok(&b"abc"[..]));
        assert_eq!(cursor.c_string(), Ok(&b"xyz"[..]));
        assert_eq!(
            cursor.c_string(),
            Err(WireError::UnterminatedString { offset: 12 })
        );
    }
}
