//! CACHE: the caches of the CPUs.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The caches of the host, each set of CPUs that shares one listed once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuCaches(pub Vec<CacheLevel>);

/// One cache.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CacheLevel {
    /// 1 is nearest to the CPU.
    pub level: u32,
    /// Bytes in a line.
    pub line_size: u32,
    /// Number of sets.
    pub sets: u32,
    /// Lines in a set.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size as sysfs says it, for example `32K`.
    pub size: String,
    /// List of the CPUs that share it.
    pub cpus: String,
}

/// The only version of the layout.
const VERSION: u32 = 1;

impl Feature for CpuCaches {
    const ID: FeatureId = FeatureId::CACHE;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<CpuCaches, FeatureFault> {
        match cursor.u32()? {
            VERSION => decode_list(cursor, decode_level).map(CpuCaches),
            version => Err(FeatureFault::Value {
                what: "version",
                found: u64::from(version),
            }),
        }
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(VERSION);
        encode_list(encoder, &self.0, |encoder, cache| {
            for number in [cache.level, cache.line_size, cache.sets, cache.ways] {
                encoder.u32(number);
            }
            for text in [&cache.kind, &cache.size, &cache.cpus] {
                strings::encode(encoder, text);
            }
        });
    }
}

fn decode_level(cursor: &mut Cursor<'_>) -> Result<CacheLevel, FeatureFault> {
    Ok(CacheLevel {
        level: cursor.u32()?,
        line_size: cursor.u32()?,
        sets: cursor.u32()?,
        ways: cursor.u32()?,
        kind: strings::decode(cursor)?,
        size: strings::decode(cursor)?,
        cpus: strings::decode(cursor)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, round_trip};
    use super::*;

    #[test]
    fn caches_round_trip() {
        let cache = CacheLevel {
            level: 1,
            line_size: 64,
            sets: 64,
            ways: 8,
            kind: "Data".into(),
            size: "32K".into(),
            cpus: "0".into(),
        };
        round_trip(&CpuCaches(vec![cache]));
    }

    #[test]
    fn other_versions_are_refused() {
        let fault = FeatureFault::Value {
            what: "version",
            found: 2,
        };
        assert_eq!(
            from_little::<CpuCaches>(&[2, 0, 0, 0, 0, 0, 0, 0]),
            Err(fault)
        );
    }
}
