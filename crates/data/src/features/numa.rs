//! NUMA_TOPOLOGY: memory nodes with their CPUs.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId, decode_list, encode_list, strings};
use crate::FeatureFault;

/// The memory nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NumaTopology(pub Vec<NumaNode>);

/// One node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NumaNode {
    /// The node's number.
    pub node: u32,
    /// Its memory in units of 1024 bytes.
    pub total_kilobytes: u64,
    /// The free part of it.
    pub free_kilobytes: u64,
    /// List of its CPUs.
    pub cpus: String,
}

impl Feature for NumaTopology {
    const ID: FeatureId = FeatureId::NUMA_TOPOLOGY;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<NumaTopology, FeatureFault> {
        let nodes = decode_list(cursor, |cursor| {
            Ok(NumaNode {
                node: cursor.u32()?,
                total_kilobytes: cursor.u64()?,
                free_kilobytes: cursor.u64()?,
                cpus: strings::decode(cursor)?,
            })
        });
        nodes.map(NumaTopology)
    }

    fn encode(&self, encoder: &mut Encoder) {
        encode_list(encoder, &self.0, |encoder, node| {
            encoder.u32(node.node);
            encoder.u64(node.total_kilobytes);
            encoder.u64(node.free_kilobytes);
            strings::encode(encoder, &node.cpus);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::round_trip;
    use super::*;

    #[test]
    fn nodes_round_trip() {
        let node = NumaNode {
            node: 3,
            total_kilobytes: 24_684_096,
            free_kilobytes: 5,
            cpus: "0-1,4".into(),
        };
        round_trip(&NumaTopology(vec![node, NumaNode::default()]));
    }
}
