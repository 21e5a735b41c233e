//! Encoded features on their way to a file.

use std::collections::BTreeMap;

use oxperf_wire::{Encoder, Endian};

use super::{EventDesc, Feature, FeatureBits, FeatureId};

/// Features for a writer, each as its bytes, in the order of their bits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FeatureSet {
    bodies: BTreeMap<FeatureId, Vec<u8>>,
}

impl FeatureSet {
    /// No features.
    pub fn new() -> FeatureSet {
        FeatureSet::default()
    }

    /// Encodes a feature in this machine's byte order, replacing one of its kind.
    pub fn insert<F: Feature>(&mut self, feature: &F) {
        let mut encoder = Encoder::new(Endian::NATIVE);
        feature.encode(&mut encoder);
        self.insert_raw(F::ID, encoder.into_bytes());
    }

    /// Takes a feature's bytes as they are.
    pub fn insert_raw(&mut self, id: FeatureId, bytes: Vec<u8>) {
        self.bodies.insert(id, bytes);
    }

    /// Adds the description of the events, unless there is one or none of them has a name.
    pub(crate) fn describe(&mut self, events: &EventDesc) {
        let named = events.events.iter().any(|event| !event.name.is_empty());
        if named && !self.bodies.contains_key(&FeatureId::EVENT_DESC) {
            self.insert(events);
        }
    }

    /// The set of the features that are there.
    pub fn bits(&self) -> FeatureBits {
        self.bodies.keys().copied().collect()
    }

    /// Each feature with its bytes, lowest bit first.
    pub fn iter(&self) -> impl Iterator<Item = (FeatureId, &[u8])> {
        self.bodies
            .iter()
            .map(|(id, bytes)| (*id, bytes.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{CacheLineSize, TotalMem};

    #[test]
    fn features_come_in_bit_order_and_replace_their_kind() {
        let mut set = FeatureSet::new();
        set.insert(&CacheLineSize(64));
        set.insert(&TotalMem { kilobytes: 1 });
        set.insert_raw(FeatureId::CLN_SIZE, vec![9]);
        let bodies: Vec<_> = set.iter().map(|(id, bytes)| (id, bytes.len())).collect();
        assert_eq!(
            bodies,
            [(FeatureId::TOTAL_MEM, 8), (FeatureId::CLN_SIZE, 1)]
        );
    }
}
