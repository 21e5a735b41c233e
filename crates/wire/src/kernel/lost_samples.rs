//! Samples that were not taken.

use crate::{Cursor, Encoder, WireError};

/// Count of samples lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSamples {
    /// Number of samples.
    pub lost: u64,
}

impl LostSamples {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<LostSamples, WireError> {
        Ok(LostSamples {
            lost: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = LostSamples { lost: 0x1122_3344 };
        round_trip(&record, LostSamples::encode, |cursor| {
            LostSamples::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
