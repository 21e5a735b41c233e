//! HYBRID_TOPOLOGY: which CPUs belong to which kind of core.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The kinds of cores.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HybridTopology(pub Vec<HybridPmu>);

/// One kind of core.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HybridPmu {
    /// Name of its PMU.
    pub pmu: String,
    /// List of its CPUs.
    pub cpus: String,
}

impl Feature for HybridTopology {
    const ID: FeatureId = FeatureId::HYBRID_TOPOLOGY;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<HybridTopology, FeatureFault> {
        let pmus = decode_list(cursor, |cursor| {
            Ok(HybridPmu {
                pmu: strings::decode(cursor)?,
                cpus: strings::decode(cursor)?,
            })
        });
        pmus.map(HybridTopology)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, kind| {
            strings::encode(encoder, &kind.pmu);
            strings::encode(encoder, &kind.cpus);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn kinds_round_trip() {
        round_trip(&HybridTopology(vec![HybridPmu {
            pmu: "cpu_core".into(),
            cpus: "0-11".into(),
        }]));
    }
}
