//! How fast code ran: instructions in a cycle, from the stretches between branches and the places of instructions.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::{Block, SymbolId};

/// The paces of functions; those without stretches have none.
pub type IpcTable = FxHashMap<SymbolId, FunctionIpc>;

/// How fast a function ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionIpc {
    /// Instructions in a cycle, in stretches whose beginnings are known.
    pub ipc: f64,
    /// Hundredths of the function's instructions that this is known of.
    pub coverage: f64,
    /// What is known of instructions that end stretches, by their addresses.
    pub ends: BTreeMap<u64, BlockEnd>,
}

/// What is known of an instruction that ends a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockEnd {
    /// Instructions in a cycle in the stretch through it that ends last.
    pub ipc: Option<f64>,
    /// The cycles of a stretch that ends here, on average.
    pub cycles: u64,
}

impl FunctionIpc {
    /// Of a function's stretches and the addresses of all its instructions, ascending.
    pub fn new(blocks: &[Block], instructions: &[u64]) -> FunctionIpc {
        let mut pace = FunctionIpc::default();
        let (mut covered, mut passed, mut cycles) = (0usize, 0u64, 0u64);
        let with_cycles = blocks.iter().rev().filter(|block| block.longest.cycles > 0);
        for block in with_cycles {
            if instructions.binary_search(&block.end).is_ok() {
                pace.ends.insert(
                    block.end,
                    BlockEnd {
                        ipc: None,
                        cycles: block.all.average(),
                    },
                );
            }
            let Some(start) = block.start else { continue };
            let within = instructions.partition_point(|&at| at < start)
                ..instructions.partition_point(|&at| at <= block.end);
            let count = within.len() as u64;
            let ipc = count as f64 / (block.longest.cycles as f64 / block.longest.times as f64);
            let news = pace
                .ends
                .range_mut(start..=block.end)
                .filter(|(_, end)| end.ipc.is_none());
            let news = news.map(|(_, end)| end.ipc = Some(ipc)).count();
            // Stretches that tell nothing new, as parts of others, do not count.
            if count > 0 && news > 0 {
                covered += news;
                passed += count * block.longest.times;
                cycles += block.longest.cycles;
            }
        }
        if cycles > 0 {
            pace.ipc = passed as f64 / cycles as f64;
        }
        if !instructions.is_empty() {
            pace.coverage = covered as f64 * 100.0 / instructions.len() as f64;
        }
        pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockRuns;

    fn block(start: Option<u64>, end: u64, times: u64, cycles: u64) -> Block {
        let passes = BlockRuns { times, cycles };
        Block {
            start,
            longest: passes,
            all: passes,
            ..Block::ending(SymbolId(0), end)
        }
    }

    #[test]
    fn stretches_tell_of_the_ends_in_them_once() {
        let blocks = [
            block(None, 4, 1, 8),
            block(Some(0), 8, 2, 4),
            block(Some(2), 12, 1, 4),
        ];
        let pace = FunctionIpc::new(&blocks, &[0, 2, 4, 8, 12]);
        // A stretch tells of what ends in it no earlier than itself: perf looks at the last ends first.
        let ipc = |address| pace.ends.get(&address).and_then(|end: &BlockEnd| end.ipc);
        assert_eq!((ipc(12), ipc(8), ipc(4)), (Some(1.0), Some(2.0), None));
        assert_eq!(pace.ends[&4].cycles, 8);
        assert_eq!((pace.ipc, pace.coverage), ((4.0 + 8.0) / 8.0, 40.0));
    }

    #[test]
    fn ends_that_are_no_instructions_tell_nothing() {
        let pace = FunctionIpc::new(&[block(Some(0), 3, 1, 5)], &[0, 2, 4]);
        assert_eq!(pace, FunctionIpc::default());
    }
}
