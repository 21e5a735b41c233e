//! Compressed records, in the form that may have any length and in the one that is padded.

use crate::{Cursor, Encoder, WireError};

/// COMPRESSED and COMPRESSED2: a piece of the writer's zstd stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compressed<'a> {
    /// The bytes of the stream.
    pub bytes: &'a [u8],
}

impl<'a> Compressed<'a> {
    /// Decodes the body of COMPRESSED: all of it is stream.
    pub fn decode(cursor: &mut Cursor<'a>) -> Compressed<'a> {
        Compressed {
            bytes: cursor.rest(),
        }
    }

    /// Decodes the body of COMPRESSED2: it says how much of it is stream.
    pub fn decode_padded(cursor: &mut Cursor<'a>) -> Result<Compressed<'a>, WireError> {
        let size = cursor.u64()?;
        Ok(Compressed {
            bytes: cursor.items(size, 1)?,
        })
    }

    /// Appends the body of COMPRESSED2.
    pub fn encode_padded(&self, encoder: &mut Encoder) {
        encoder.u64(self.bytes.len() as u64);
        encoder.bytes(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn the_padded_form_round_trips() {
        let record = Compressed { bytes: b"abc" };
        let mut body = Encoder::new(Endian::Little);
        record.encode_padded(&mut body);
        body.bytes(&[0; 5]);
        let bytes = body.as_bytes();
        assert_eq!(
            Compressed::decode_padded(&mut Cursor::new(bytes, Endian::Little)),
            Ok(record)
        );
        assert_eq!(
            Compressed::decode(&mut Cursor::new(bytes, Endian::Little)).bytes,
            bytes
        );
    }
}
