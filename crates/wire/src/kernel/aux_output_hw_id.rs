//! The hardware id of an AUX event.

use crate::{Cursor, Encoder, WireError};

/// The hardware id of an event that writes into the AUX area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxOutputHwId {
    /// The id.
    pub hw_id: u64,
}

impl AuxOutputHwId {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<AuxOutputHwId, WireError> {
        Ok(AuxOutputHwId {
            hw_id: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.hw_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = AuxOutputHwId { hw_id: 0x1122_3344 };
        round_trip(&record, AuxOutputHwId::encode, |cursor| {
            AuxOutputHwId::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
