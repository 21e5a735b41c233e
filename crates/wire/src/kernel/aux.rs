//! New data in the AUX area.

use crate::{Cursor, Encoder, WireError};

/// A stretch of the AUX area was filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aux {
    /// Offset of its first byte, counted from the start of the trace.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// 1 truncated, 2 overwrite, 4 partial, 8 collision; 0xff00 the PMU's format.
    pub flags: u64,
}

impl Aux {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Aux, WireError> {
        Ok(Aux {
            offset: cursor.u64()?,
            size: cursor.u64()?,
            flags: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.offset);
        encoder.u64(self.size);
        encoder.u64(self.flags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Aux {
            offset: 0x1122_3344,
            size: 0x1122_3344,
            flags: 0x1122_3344,
        };
        round_trip(&record, Aux::encode, |cursor| {
            Aux::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
