//! CPU_PMU_CAPS and PMU_CAPS: what the PMUs can do, as sysfs says.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// A capability and its value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Capability {
    /// Name of the file in sysfs.
    pub name: String,
    /// Its content.
    pub value: String,
}

/// Capabilities of the PMU of the CPUs, on machines with one kind of core.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuPmuCaps(pub Vec<Capability>);

impl Feature for CpuPmuCaps {
    const ID: FeatureId = FeatureId::CPU_PMU_CAPS;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<CpuPmuCaps, FeatureFault> {
        decode_caps(cursor).map(CpuPmuCaps)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_caps(encoder, &self.0);
    }
}

/// Capabilities of the other PMUs, and of all on machines with several kinds of core.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PmuCaps(pub Vec<PmuCapsEntry>);

/// The capabilities of one PMU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PmuCapsEntry {
    /// Name of the PMU.
    pub pmu: String,
    /// Its capabilities.
    pub caps: Vec<Capability>,
}

impl Feature for PmuCaps {
    const ID: FeatureId = FeatureId::PMU_CAPS;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<PmuCaps, FeatureFault> {
        let pmus = decode_list(cursor, |cursor| {
            let caps = decode_caps(cursor)?;
            Ok(PmuCapsEntry {
                pmu: strings::decode(cursor)?,
                caps,
            })
        });
        pmus.map(PmuCaps)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, entry| {
            encode_caps(encoder, &entry.caps);
            strings::encode(encoder, &entry.pmu);
        });
    }
}

fn decode_caps(cursor: &mut Cursor<'_>) -> Result<Vec<Capability>, FeatureFault> {
    decode_list(cursor, |cursor| {
        Ok(Capability {
            name: strings::decode(cursor)?,
            value: strings::decode(cursor)?,
        })
    })
}

fn encode_caps(encoder: &mut Encoder, caps: &[Capability]) {
    encode_list(encoder, caps, |encoder, cap| {
        strings::encode(encoder, &cap.name);
        strings::encode(encoder, &cap.value);
    });
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn capabilities_round_trip() {
        let caps = vec![Capability {
            name: "max_precise".into(),
            value: "0".into(),
        }];
        round_trip(&CpuPmuCaps(caps.clone()));
        round_trip(&PmuCaps(vec![
            PmuCapsEntry {
                pmu: "ibs_op".into(),
                caps,
            },
            PmuCapsEntry::default(),
        ]));
    }
}
