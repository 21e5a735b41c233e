//! A binary, for records that come as a stream.

use crate::{Cursor, Encoder, WireError};

/// A binary and the number by which symbols name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleperfDso<'a> {
    /// Its kind, by the numbers of the FILE feature.
    pub kind: u64,
    /// Its number.
    pub id: u64,
    /// The lowest virtual address of its executable segment.
    pub min_vaddr: u64,
    /// Its path.
    pub name: &'a [u8],
}

impl<'a> SimpleperfDso<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<SimpleperfDso<'a>, WireError> {
        let (kind, id, min_vaddr) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
        Ok(SimpleperfDso {
            kind,
            id,
            min_vaddr,
            name: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        [self.kind, self.id, self.min_vaddr]
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
        let record = SimpleperfDso {
            kind: 2,
            id: 7,
            min_vaddr: 0x1000,
            name: b"/system/lib64/libc.so",
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| SimpleperfDso::decode(cursor) == Ok(record),
        );
    }
}
