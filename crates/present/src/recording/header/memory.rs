//! Lines about caches and memory blocks.

use oxperf_data::features::{CacheLineSize, CpuCaches, MemNode, MemTopology};

use super::{Lines, Page};
use crate::text::sanitize;

impl Page<'_> {
    pub(super) fn cache(&mut self) -> Lines {
        let caches = self.get::<CpuCaches>()?.0;
        self.line("CPU cache info:");
        for cache in caches {
            let (kind, size, cpus) = (
                sanitize(&cache.kind),
                sanitize(&cache.size),
                sanitize(&cache.cpus),
            );
            self.line(format_args!(
                " L{} {kind:<15} {size:>8} [{cpus}]",
                cache.level
            ));
        }
        Ok(())
    }

    pub(super) fn cache_line(&mut self) -> Lines {
        let size = self.get::<CacheLineSize>()?.0;
        self.line(format_args!("cacheline size: {size}"));
        Ok(())
    }

    pub(super) fn mem_topology(&mut self) -> Lines {
        let MemTopology { block_size, nodes } = self.get()?;
        self.line(format_args!(
            "memory nodes (nr {}, block size {block_size:#x}):",
            nodes.len()
        ));
        for node in &nodes {
            let size = human_size(block_size.saturating_mul(node.blocks().count() as u64));
            self.line(format_args!(" {:3} [{size}]: {}", node.node, runs(node)));
        }
        Ok(())
    }
}

/// Whole units, rounded down, the largest that is not zero.
fn human_size(bytes: u64) -> String {
    let unit = "BKMGTPE"
        .chars()
        .enumerate()
        .take_while(|(power, _)| *power == 0 || bytes >> (10 * power) > 0)
        .last();
    let (power, letter) = unit.unwrap_or((0, 'B'));
    format!("{}{letter}", bytes >> (10 * power))
}

/// The blocks as a list of numbers and ranges.
fn runs(node: &MemNode) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for block in node.blocks() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == block => *last = block,
            _ => runs.push((block, block)),
        }
    }
    let text = |(first, last): &(u64, u64)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_down() {
        let sizes = [0, 1023, 1024, 1 << 29, 24 << 30, (24 << 30) - 1, u64::MAX];
        let texts = sizes.map(human_size);
        assert_eq!(texts, ["0B", "1023B", "1K", "512M", "24G", "23G", "15E"]);
    }

    #[test]
    fn blocks_are_listed_as_ranges() {
        assert_eq!(runs(&MemNode::new(0, [0, 1, 2, 9, 199])), "0-2,9,199");
        assert_eq!(runs(&MemNode::default()), "");
    }
}
