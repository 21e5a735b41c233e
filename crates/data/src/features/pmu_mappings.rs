//! PMU_MAPPINGS: the numbers that the kernel gave to its PMUs.

use oxperf_abi::EventType;
use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The PMUs of the host.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PmuMappings(pub Vec<PmuMapping>);

/// One PMU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PmuMapping {
    /// Its number: the type of its events.
    pub kind: EventType,
    /// Its name.
    pub name: String,
}

impl Feature for PmuMappings {
    const ID: FeatureId = FeatureId::PMU_MAPPINGS;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<PmuMappings, FeatureFault> {
        let pmus = decode_list(cursor, |cursor| {
            Ok(PmuMapping {
                kind: EventType(cursor.u32()?),
                name: strings::decode(cursor)?,
            })
        });
        pmus.map(PmuMappings)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, pmu| {
            encoder.u32(pmu.kind.0);
            strings::encode(encoder, &pmu.name);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn mappings_round_trip() {
        let pmu = |kind, name: &str| PmuMapping {
            kind: EventType(kind),
            name: name.into(),
        };
        round_trip(&PmuMappings(vec![pmu(4, "cpu"), pmu(u32::MAX - 1, "tool")]));
    }
}
