//! A header feature: what a stream has instead of the file's sections.

use crate::{Cursor, Encoder, WireError};

/// HEADER_FEATURE: one feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderFeature<'a> {
    /// The feature's bit number.
    pub feature: u64,
    /// Its bytes, with the record's padding; none marks the end of the features.
    pub bytes: &'a [u8],
}

impl<'a> HeaderFeature<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<HeaderFeature<'a>, WireError> {
        Ok(HeaderFeature {
            feature: cursor.u64()?,
            bytes: cursor.rest(),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.feature);
        encoder.bytes(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = HeaderFeature {
            feature: 3,
            bytes: b"abcd",
        };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        assert_eq!(
            HeaderFeature::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)),
            Ok(record)
        );
    }
}
