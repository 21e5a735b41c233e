//! The formats of tracepoints, for records that come as a stream.

use crate::{Cursor, Encoder, WireError};

/// Tracing data as the header's feature holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleperfTracingData<'a> {
    /// The data.
    pub data: &'a [u8],
}

impl<'a> SimpleperfTracingData<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<SimpleperfTracingData<'a>, WireError> {
        let size = cursor.u32()?;
        Ok(SimpleperfTracingData {
            data: cursor.items(u64::from(size), 1)?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.data.len() as u32);
        encoder.bytes(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip;
    use super::*;

    #[test]
    fn round_trips() {
        let record = SimpleperfTracingData {
            data: b"\x17\x08\x44tracing",
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| SimpleperfTracingData::decode(cursor) == Ok(record),
        );
    }
}
