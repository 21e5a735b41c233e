//! What the cycles between branches say of programs: which stretches of code took most of them, and how many instructions
//! a function got through in a cycle.

use std::cmp::Reverse;

use crate::hist::{Row, Table};
use oxperf_profile::{Block, Profile, SymbolId};

/// The stretches that stand below an event or a group of events.
#[derive(Debug)]
pub struct BlockTable<'p> {
    /// In order: those that took most cycles first.
    pub blocks: Vec<&'p Block>,
    /// Averages of all stretches together, a stretch once for each row about its function: what perf takes averages as
    /// parts of.
    pub averages: u64,
}

/// The stretches of the functions that a table's rows are about. Cycles are those of all events: code takes as long whoever
/// takes the sample.
pub fn block_table<'p>(profile: &'p Profile, table: &Table) -> BlockTable<'p> {
    let symbol = |row: &Row| {
        profile
            .frames
            .get(row.frame.index())
            .and_then(|frame| frame.symbol)
    };
    let mut symbols: Vec<SymbolId> = table.rows().filter_map(symbol).collect();
    let of_row = symbols.iter().flat_map(|&symbol| profile.blocks.of(symbol));
    let averages = of_row.fold(0u64, |sum, block| sum.wrapping_add(block.all.average()));
    symbols.sort_unstable();
    symbols.dedup();
    let mut blocks: Vec<&Block> = symbols
        .iter()
        .flat_map(|&symbol| profile.blocks.of(symbol))
        .collect();
    let symbol = |block: &Block| profile.symbols.get(block.symbol.index());
    blocks.sort_by_key(|block| {
        let start = block.start.or(symbol(block).map(|symbol| symbol.start));
        let name = symbol(block).map(|symbol| symbol.name.as_str());
        (
            Reverse((thousandths(block, profile.blocks.cycles), name)),
            start,
            block.end,
        )
    });
    BlockTable { blocks, averages }
}

/// The part of all cycles in thousandths of a hundredth: what differs by less is in the order of names.
fn thousandths(block: &Block, whole: u64) -> u128 {
    u128::from(block.all.cycles) * 100_000 / u128::from(whole.max(1))
}
