//! The tracepoint formats that follow their record in a stream.

use crate::{Cursor, Encoder, WireError};

/// HEADER_TRACING_DATA: how many bytes of tracing data follow the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderTracingData {
    /// Bytes behind the record, a multiple of 8.
    pub size: u32,
}

impl HeaderTracingData {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<HeaderTracingData, WireError> {
        Ok(HeaderTracingData {
            size: cursor.u32()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = HeaderTracingData { size: 4096 };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        assert_eq!(
            HeaderTracingData::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)),
            Ok(record)
        );
    }
}
