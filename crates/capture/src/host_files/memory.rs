//! Size of the memory, and the blocks of each node.

use oxperf_data::FeatureSet;
use oxperf_data::features::{MemNode, MemTopology, TotalMem};

use super::topology::memory_field;
use super::tree::Tree;

pub(super) fn collect(tree: &Tree, features: &mut FeatureSet) {
    let total = tree
        .text("proc/meminfo")
        .and_then(|text| memory_field(&text, "MemTotal:"));
    if let Some(kilobytes) = total {
        features.insert(&TotalMem { kilobytes });
    }
    if let Some(topology) = mem_topology(tree) {
        features.insert(&topology);
    }
}

fn mem_topology(tree: &Tree) -> Option<MemTopology> {
    let size = tree.text("sys/devices/system/memory/block_size_bytes")?;
    let block_size = u64::from_str_radix(&size, 16).ok()?;
    let mut nodes: Vec<MemNode> = tree
        .names("sys/devices/system/node")?
        .iter()
        .filter_map(|name| mem_node(tree, name))
        .collect();
    nodes.sort_unstable_by_key(|node| node.node);
    Some(MemTopology { block_size, nodes })
}

/// The blocks of a node, from the names in its folder.
fn mem_node(tree: &Tree, name: &str) -> Option<MemNode> {
    /// More blocks than any machine has; keeps a senseless name from filling the memory.
    const LIMIT: u64 = 1 << 24;
    let node = name.strip_prefix("node")?.parse().ok()?;
    let entries = tree.names(&format!("sys/devices/system/node/{name}"))?;
    let blocks = entries
        .iter()
        .filter_map(|entry| entry.strip_prefix("memory")?.parse().ok());
    Some(MemNode::new(node, blocks.filter(|block| *block < LIMIT)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FakeHost, get};
    use super::*;

    #[test]
    fn blocks_come_from_names() {
        let fake = FakeHost::new(&[
            (
                "proc/meminfo",
                "MemTotal:       24684084 kB\nMemFree: 1 kB\n",
            ),
            ("sys/devices/system/memory/block_size_bytes", "8000000\n"),
            ("sys/devices/system/node/node10/memory7", ""),
            ("sys/devices/system/node/node2/memory0", ""),
            ("sys/devices/system/node/node2/memory65", ""),
            ("sys/devices/system/node/node2/memory_failure", ""),
        ]);
        let features = fake.collect(collect);
        assert_eq!(
            get(&features, 1),
            Some(TotalMem {
                kilobytes: 24_684_084
            })
        );
        let nodes = vec![MemNode::new(2, [0, 65]), MemNode::new(10, [7])];
        assert_eq!(
            get(&features, 1),
            Some(MemTopology {
                block_size: 0x800_0000,
                nodes
            })
        );
    }
}
