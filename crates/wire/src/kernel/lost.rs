//! Records that a ring could not take.

use oxperf_abi::EventId;

use crate::{Cursor, Encoder, WireError};

/// Count of records lost since the last such record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    /// Event whose ring was full; 0 when unknown.
    pub id: EventId,
    /// Number of records.
    pub lost: u64,
}

impl Lost {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Lost, WireError> {
        Ok(Lost {
            id: EventId(cursor.u64()?),
            lost: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.id.0);
        encoder.u64(self.lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Lost {
            id: EventId(5),
            lost: 0x1122_3344,
        };
        round_trip(&record, Lost::encode, |cursor| {
            Lost::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
