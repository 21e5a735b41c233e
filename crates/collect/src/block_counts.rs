//! The code between the branches of samples, by the addresses that branches lead to and come from.

use std::collections::BTreeMap;

use oxperf_resolve::{DsoAddress, FrameId as LocatedId, LocatedFrame as Located};
use rustc_hash::FxHashMap;

use super::batch::Batch;
use super::lookup::SymbolLookup;
use super::named_frames::NamedFrames;
use super::options::{BlockDetail, LineText};
use super::sources::{LineAt, SourceTable};
use oxperf_profile::{Block, BlockRuns, FirstRuns, Profile, SourceId, SymbolId};

/// Passes by the branch that ends them and what the branch before it led to.
#[derive(Debug)]
pub(super) struct BlockCounts {
    options: BlockDetail,
    passes: FxHashMap<(LocatedId, Option<LocatedId>), (BlockRuns, FirstRuns)>,
    cycles: u64,
    located: Vec<Located>,
}

impl BlockCounts {
    pub(super) fn new(options: BlockDetail) -> BlockCounts {
        BlockCounts {
            options,
            passes: FxHashMap::default(),
            cycles: 0,
            located: Vec::new(),
        }
    }

    /// Counts the branches of the samples of a batch.
    pub(super) fn count(&mut self, batch: &Batch) {
        let mut branches = Vec::new();
        for sample in &batch.samples {
            let ends = batch
                .located_sample(sample)
                .map_or(&[][..], |places| places.ends);
            let cycles = batch.branches[sample.branches.range()]
                .iter()
                .map(|branch| branch.cycles);
            branches.extend(ends.iter().copied().zip(cycles));
            if sample.last {
                self.count_sample(&branches);
                branches.clear();
            }
        }
    }

    /// Counts the branches of a sample, the newest first: their ends and cycles. A CPU that leaves out
    /// the newest one's cycles counts none.
    fn count_sample(&mut self, branches: &[([LocatedId; 2], u64)]) {
        let mut before = branches.iter().skip(1).map(|&([_, to], _)| to);
        for (nth, &([from, _], cycles)) in branches.iter().enumerate() {
            let start = before.next().filter(|_| self.options.consecutive);
            match cycles {
                0 if nth == 0 => return,
                0 => {}
                _ => {
                    self.cycles = self.cycles.wrapping_add(cycles);
                    let (passes, first) = self.passes.entry((from, start)).or_default();
                    passes.add(BlockRuns { times: 1, cycles });
                    first.push(cycles);
                }
            }
        }
    }

    /// Adds further located addresses.
    pub(super) fn locate(&mut self, fresh: &[Located]) {
        self.located.extend(fresh);
    }

    /// Hands everything to a profile whose frames are named.
    pub(super) fn give(
        &self,
        named: &NamedFrames,
        lookup: SymbolLookup<'_, '_>,
        profile: &mut Profile,
    ) {
        let mut blocks: BTreeMap<(SymbolId, u64), (Block, LocatedId)> = BTreeMap::new();
        for (&(from, start), (passes, first)) in &self.passes {
            let Some((symbol, end)) = self.in_symbol(from, named, profile) else {
                continue;
            };
            let start = start.and_then(|start| self.in_symbol(start, named, profile));
            let start = start
                .filter(|&(around, start)| around == symbol && start < end)
                .map(|(_, start)| start);
            let (block, _) = blocks
                .entry((symbol, end))
                .or_insert_with(|| (Block::ending(symbol, end), from));
            block.add(start, *passes, first);
        }
        if let Some(form) = self.options.lines {
            let mut finder = LineFinder {
                form,
                texts: SourceTable::default(),
                lookup,
                profile,
            };
            for (block, from) in blocks.values_mut() {
                let end = self.located.get(from.0 as usize);
                block.lines = end.and_then(|end| finder.lines(block, *end));
            }
        }
        profile.blocks.list = blocks.into_values().map(|(block, _)| block).collect();
        profile.blocks.cycles = self.cycles;
    }

    /// The symbol around a located address, and the address in its object.
    fn in_symbol(
        &self,
        located: LocatedId,
        named: &NamedFrames,
        profile: &Profile,
    ) -> Option<(SymbolId, u64)> {
        let id = profile.frames.get(named.frame(located).index())?.symbol?;
        let symbol = profile.symbols.get(id.index())?;
        let address = self.located.get(located.0 as usize)?.place?.address;
        (symbol.start..symbol.end)
            .contains(&address)
            .then_some((id, address))
    }
}

/// Finds the source lines of blocks.
struct LineFinder<'a, 's> {
    form: LineText,
    texts: SourceTable,
    lookup: SymbolLookup<'a, 's>,
    profile: &'a mut Profile,
}

impl LineFinder<'_, '_> {
    /// The source lines of both ends of a block, or the texts in their place, given the address of its end.
    fn lines(&mut self, block: &Block, end: Located) -> Option<[SourceId; 2]> {
        let place = end.place?;
        let beginning = self.profile.symbols.get(block.symbol.index())?.start;
        let first = Located {
            place: Some(DsoAddress {
                address: block.start.unwrap_or(beginning),
                ..place
            }),
            ..end
        };
        Some([self.line_of(first)?, self.line_of(end)?])
    }

    fn line_of(&mut self, located: Located) -> Option<SourceId> {
        let line = self.lookup.line(&located.place?);
        let at = LineAt {
            located: &located,
            line: line.as_ref(),
        };
        let texts = &mut self.profile.sources;
        Some(self.texts.of(at, self.form, self.lookup, texts).line)
    }
}
