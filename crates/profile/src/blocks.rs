//! Stretches of code that ran without a branch, and the cycles that they took.
//!
//! A branch that a CPU keeps with the cycles since the branch before it tells of the code from where that one led to. Where
//! stretches with one end begin at different places, the longest stands for all: the others are parts of it.

use super::{SourceId, SymbolId};

/// All stretches.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// In the order of their symbols and ends.
    pub list: Vec<Block>,
    /// The cycles that branches told, also those in code without a symbol.
    pub cycles: u64,
}

/// A stretch of code of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The function.
    pub symbol: SymbolId,
    /// Where it begins, in the object's own addresses; `None` if it was never entered by a branch within the function.
    pub start: Option<u64>,
    /// The branch that ends it.
    pub end: u64,
    /// How often it ran from `start` on.
    pub longest: BlockRuns,
    /// How often any stretch with this end ran.
    pub all: BlockRuns,
    /// What the first passes from `start` on took.
    pub first: FirstRuns,
    /// The source lines of its beginning and its end, where they were asked for and are known.
    pub lines: Option<[SourceId; 2]>,
}

/// How often code ran, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRuns {
    /// Number of times.
    pub times: u64,
    /// All cycles together.
    pub cycles: u64,
}

impl BlockRuns {
    /// The cycles that a pass took on average, without fractions.
    pub const fn average(self) -> u64 {
        match self.times {
            0 => 0,
            times => self.cycles / times,
        }
    }

    /// Adds the passes of `other`.
    pub fn add(&mut self, other: BlockRuns) {
        self.times += other.times;
        self.cycles = self.cycles.wrapping_add(other.cycles);
    }
}

/// The cycles of the first passes, each apart, as far as there is room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstRuns {
    cycles: [u16; FirstRuns::MOST],
    count: u8,
}

impl FirstRuns {
    /// Passes that there is room for.
    pub const MOST: usize = 8;

    /// The cycles of each.
    pub fn cycles(&self) -> &[u16] {
        &self.cycles[..usize::from(self.count)]
    }

    /// Adds a pass, if there is room.
    pub fn push(&mut self, cycles: u64) {
        if let Some(slot) = self.cycles.get_mut(usize::from(self.count)) {
            *slot = u16::try_from(cycles).unwrap_or(u16::MAX);
            self.count += 1;
        }
    }
}

impl Block {
    /// A stretch of which nothing is known but where it ends.
    pub fn ending(symbol: SymbolId, end: u64) -> Block {
        let (longest, all, first) = Default::default();
        Block {
            symbol,
            start: None,
            end,
            longest,
            all,
            first,
            lines: None,
        }
    }

    /// Adds passes that began at a place, or from elsewhere.
    pub fn add(&mut self, start: Option<u64>, passes: BlockRuns, first: &FirstRuns) {
        self.all.add(passes);
        match (start, self.start) {
            (Some(new), Some(known)) if new > known => {}
            (None, Some(_)) => {}
            (new, known) if new == known => {
                self.longest.add(passes);
                first
                    .cycles()
                    .iter()
                    .for_each(|&cycles| self.first.push(cycles.into()));
            }
            (new, _) => (self.start, self.longest, self.first) = (new, passes, *first),
        }
    }
}

impl Blocks {
    /// The stretches of a function, by their ends.
    pub fn of(&self, symbol: SymbolId) -> &[Block] {
        let start = self.list.partition_point(|block| block.symbol < symbol);
        let rest = &self.list[start..];
        &rest[..rest.partition_point(|block| block.symbol == symbol)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stretch_stands_for_all_with_its_end() {
        let mut block = Block::ending(SymbolId(1), 0x40);
        for (start, cycles) in [
            (None, 3),
            (Some(0x30), 5),
            (None, 1),
            (Some(0x20), 7),
            (Some(0x30), 2),
            (Some(0x20), 9),
        ] {
            let mut first = FirstRuns::default();
            first.push(cycles);
            block.add(start, BlockRuns { times: 1, cycles }, &first);
        }
        assert_eq!(block.start, Some(0x20));
        assert_eq!(
            (block.longest, block.all),
            (
                BlockRuns {
                    times: 2,
                    cycles: 16
                },
                BlockRuns {
                    times: 6,
                    cycles: 27
                }
            )
        );
        assert_eq!(
            (block.all.average(), BlockRuns::default().average()),
            (4, 0)
        );
        assert_eq!(block.first.cycles(), [7, 9]);
    }

    #[test]
    fn only_the_first_passes_are_kept_apart() {
        let mut first = FirstRuns::default();
        (1..=10)
            .chain([1 << 20])
            .for_each(|cycles| first.push(cycles));
        assert_eq!(first.cycles(), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}
