//! A symbol, for records that come as a stream.

use crate::{Cursor, Encoder, WireError};

/// A symbol of a binary of an earlier record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleperfSymbol<'a> {
    /// Its first address in the binary.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
    /// The binary's number.
    pub dso: u64,
    /// Its name.
    pub name: &'a [u8],
}

impl<'a> SimpleperfSymbol<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<SimpleperfSymbol<'a>, WireError> {
        let (start, size, dso) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(SimpleperfSymbol {
            start,
            size,
            dso,
            name: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        [self.start, self.size, self.dso]
            .into_iter()
            .for_each(|word| encoder.u64(word));
        encoder.c_string_padded(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip;
    use super::*;

    #[test]
    fn round_trips() {
        let record = SimpleperfSymbol {
            start: 0x1040,
            size: 112,
            dso: 7,
            name: b"main",
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| SimpleperfSymbol::decode(cursor) == Ok(record),
        );
    }
}
