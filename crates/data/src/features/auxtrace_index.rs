//! AUXTRACE: where in the file the AUXTRACE records stand.

use oxperf_abi::FileOffset;
use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The places of all AUXTRACE records.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuxtraceIndex(pub Vec<AuxtraceEntry>);

/// One AUXTRACE record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxtraceEntry {
    /// Offset of the record.
    pub offset: FileOffset,
    /// Size of the record without the trace that follows it, bytes.
    pub size: u64,
}

impl Feature for AuxtraceIndex {
    const ID: FeatureId = FeatureId::AUXTRACE;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<AuxtraceIndex, FeatureFault> {
        let count = cursor.u64()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(AuxtraceEntry {
                offset: FileOffset(cursor.u64()?),
                size: cursor.u64()?,
            });
        }
        Ok(AuxtraceIndex(entries))
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.0.len() as u64);
        for entry in &self.0 {
            encoder.u64(entry.offset.0);
            encoder.u64(entry.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, round_trip};
    use super::*;

    #[test]
    fn places_round_trip() {
        round_trip(&AuxtraceIndex(vec![AuxtraceEntry {
            offset: FileOffset(4096),
            size: 48,
        }]));
        assert!(from_little::<AuxtraceIndex>(&[0xff; 40]).is_err());
    }
}
