//! MEM_TOPOLOGY: which memory blocks belong to which node.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// The memory blocks of the nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemTopology {
    /// Bytes in a block.
    pub block_size: u64,
    /// The nodes.
    pub nodes: Vec<MemNode>,
}

/// One node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemNode {
    /// Its number.
    pub node: u64,
    /// One more than its highest block.
    pub bits: u64,
    /// A bit for each block, lowest first.
    pub words: Vec<u64>,
}

impl MemNode {
    /// A node with the given blocks.
    pub fn new(node: u64, blocks: impl IntoIterator<Item = u64>) -> MemNode {
        let mut made = MemNode {
            node,
            ..MemNode::default()
        };
        for block in blocks {
            made.bits = made.bits.max(block + 1);
            made.words.resize(made.bits.div_ceil(64) as usize, 0);
            made.words[(block / 64) as usize] |= 1 << (block % 64);
        }
        made
    }

    /// The numbers of its blocks, rising.
    pub fn blocks(&self) -> impl Iterator<Item = u64> {
        let bits_of = |(index, word): (usize, &u64)| {
            let (base, word) = (index as u64 * 64, *word);
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| base + bit)
        };
        self.words.iter().enumerate().flat_map(bits_of)
    }
}

/// The only version of the layout.
const VERSION: u64 = 1;

impl Feature for MemTopology {
    const ID: FeatureId = FeatureId::MEM_TOPOLOGY;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<MemTopology, FeatureFault> {
        let version = cursor.u64()?;
        if version != VERSION {
            return Err(FeatureFault::Value {
                what: "version",
                found: version,
            });
        }
        let block_size = cursor.u64()?;
        let count = cursor.u64()?;
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(decode_node(cursor)?);
        }
        Ok(MemTopology { block_size, nodes })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(VERSION);
        encoder.u64(self.block_size);
        encoder.u64(self.nodes.len() as u64);
        for node in &self.nodes {
            encoder.u64(node.node);
            encoder.u64(node.blocks().count() as u64);
            encoder.u64(node.bits);
            node.words.iter().for_each(|word| encoder.u64(*word));
        }
    }
}

fn decode_node(cursor: &mut Cursor<'_>) -> Result<MemNode, FeatureFault> {
    let node = cursor.u64()?;
    // The number of set bits; they are counted from the bits instead.
    cursor.u64()?;
    let bits = cursor.u64()?;
    let mut words = Cursor::new(cursor.items(bits.div_ceil(64), 8)?, cursor.endian());
    let words = std::iter::from_fn(|| words.u64().ok()).collect();
    Ok(MemNode { node, bits, words })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{from_little, round_trip};
    use super::*;

    #[test]
    fn nodes_round_trip() {
        let nodes = vec![MemNode::new(0, [0, 1, 63, 64, 199]), MemNode::new(1, [])];
        assert_eq!((nodes[0].bits, nodes[0].words.len()), (200, 4));
        assert_eq!(nodes[0].blocks().collect::<Vec<_>>(), [0, 1, 63, 64, 199]);
        round_trip(&MemTopology {
            block_size: 0x800_0000,
            nodes,
        });
    }

    #[test]
    fn hostile_counts_are_refused() {
        let mut bytes = vec![0xff; 80];
        bytes[..8].copy_from_slice(&1u64.to_le_bytes());
        assert!(from_little::<MemTopology>(&bytes).is_err());
    }
}
