//! COMPRESSED: how records were compressed.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The compression of records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compression {
    /// Version of the layout.
    pub version: u32,
    /// 0 for none, 1 for Zstandard.
    pub method: u32,
    /// Compression level.
    pub level: u32,
    /// Size before by size after, rounded.
    pub ratio: u32,
    /// The most bytes that one compressed record holds.
    pub mmap_size: u32,
}

impl Feature for Compression {
    const ID: FeatureId = FeatureId::COMPRESSED;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<Compression, FeatureFault> {
        Ok(Compression {
            version: cursor.u32()?,
            method: cursor.u32()?,
            level: cursor.u32()?,
            ratio: cursor.u32()?,
            mmap_size: cursor.u32()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        for number in [
            self.version,
            self.method,
            self.level,
            self.ratio,
            self.mmap_size,
        ] {
            encoder.u32(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn compression_round_trips() {
        round_trip(&Compression {
            version: 1,
            method: 1,
            level: 3,
            ratio: 5,
            mmap_size: 528_384,
        });
    }
}
