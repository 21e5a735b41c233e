//! Changes of kernel text.

use crate::{Cursor, Encoder, WireError};

/// Kernel text was overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextPoke<'a> {
    /// First address.
    pub addr: u64,
    /// Bytes before.
    pub old: &'a [u8],
    /// Bytes after.
    pub new: &'a [u8],
}

impl<'a> TextPoke<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<TextPoke<'a>, WireError> {
        let (addr, old_len, new_len) = (cursor.u64()?, cursor.u16()?, cursor.u16()?);
        Ok(TextPoke {
            addr,
            old: cursor.bytes(usize::from(old_len))?,
            new: cursor.bytes(usize::from(new_len))?,
        })
    }

    /// Appends the body, padded to a multiple of 8; stretches past 65535 bytes are cut.
    pub fn encode(&self, encoder: &mut Encoder) {
        let cut = |bytes: &'a [u8]| &bytes[..bytes.len().min(usize::from(u16::MAX))];
        let (old, new) = (cut(self.old), cut(self.new));
        encoder.u64(self.addr);
        encoder.u16(old.len() as u16);
        encoder.u16(new.len() as u16);
        encoder.bytes(old);
        encoder.bytes(new);
        let used = 12 + old.len() + new.len();
        encoder.bytes(&[0; 8][..used.next_multiple_of(8) - used]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = TextPoke {
            addr: 0xffff_ffff_8100_0000,
            old: &[0x90; 5],
            new: &[0xe8, 1, 2, 3, 4],
        };
        round_trip(&record, TextPoke::encode, |cursor| {
            TextPoke::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
