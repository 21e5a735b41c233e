//! The code between the branches of samples, by the addresses that branches lead to and come from.

use std::collections::BTreeMap;

use oxperf_machine::Machine;
use oxperf_resolve::{DsoAddress, FrameId as LocatedId, LocatedFrame as Located, Names};
use rustc_hash::FxHashMap;

use super::LineText;
use super::merge::Batch;
use super::named::Named;
use super::sources::Sources;
use oxperf_profile::{Block, FirstPasses, Passes, Profile, SourceId, SymbolId};

/// What is wanted of the code between branches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockDetail {
    /// The samples' branches are all that the CPU came by, so that nothing else branched between two of them.
    pub consecutive: bool,
    /// Tell source lines of both ends.
    pub lines: Option<LineText>,
}

/// Passes by the branch that ends them and what the branch before it led to.
#[derive(Debug)]
pub(super) struct Blocks {
    wanted: BlockDetail,
    passes: FxHashMap<(LocatedId, Option<LocatedId>), (Passes, FirstPasses)>,
    cycles: u64,
    located: Vec<Located>,
}

impl Blocks {
    pub(super) fn new(wanted: BlockDetail) -> Blocks {
        Blocks {
            wanted,
            passes: FxHashMap::default(),
            cycles: 0,
            located: Vec::new(),
        }
    }

    /// Counts the branches of the samples of a batch.
    pub(super) fn count(&mut self, batch: &Batch) {
        let mut branches = Vec::new();
        for sample in &batch.samples {
            let ends = batch.places(sample).map_or(&[][..], |places| places.ends);
            let cycles = batch.links[sample.links.range()]
                .iter()
                .map(|link| link.cycles);
            branches.extend(ends.iter().copied().zip(cycles));
            if sample.last {
                self.count_sample(&branches);
                branches.clear();
            }
        }
    }

    /// Counts the branches of a sample, the newest first: their ends and cycles. A CPU that does not tell the newest one's
    /// cycles tells none.
    fn count_sample(&mut self, branches: &[([LocatedId; 2], u64)]) {
        let mut before = branches.iter().skip(1).map(|&([_, to], _)| to);
        for (nth, &([from, _], cycles)) in branches.iter().enumerate() {
            let start = before.next().filter(|_| self.wanted.consecutive);
            match cycles {
                0 if nth == 0 => return,
                0 => {}
                _ => {
                    self.cycles = self.cycles.wrapping_add(cycles);
                    let (passes, first) = self.passes.entry((from, start)).or_default();
                    passes.add(Passes { times: 1, cycles });
                    first.push(cycles);
                }
            }
        }
    }

    /// Notes where further located addresses lie.
    pub(super) fn locate(&mut self, fresh: &[Located]) {
        self.located.extend(fresh);
    }

    /// Hands everything to a profile whose frames are named.
    pub(super) fn give(
        &self,
        named: &Named,
        (names, machine): (&Names<'_>, &Machine),
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
        let mut sources = Sources::default();
        for (block, from) in blocks.values_mut() {
            block.lines = self.lines(block, *from, &mut sources, (names, machine), profile);
        }
        profile.blocks.list = blocks.into_values().map(|(block, _)| block).collect();
        profile.blocks.cycles = self.cycles;
    }

    /// The symbol around a located address, and the address in its object.
    fn in_symbol(
        &self,
        located: LocatedId,
        named: &Named,
        profile: &Profile,
    ) -> Option<(SymbolId, u64)> {
        let id = profile.frames.get(named.frame(located).index())?.symbol?;
        let symbol = profile.symbols.get(id.index())?;
        let address = self.located.get(located.0 as usize)?.place?.address;
        (symbol.start..symbol.end)
            .contains(&address)
            .then_some((id, address))
    }

    /// The source lines of both ends, or what stands for them.
    fn lines(
        &self,
        block: &Block,
        from: LocatedId,
        sources: &mut Sources,
        (names, machine): (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) -> Option<[SourceId; 2]> {
        let text = self.wanted.lines?;
        let end = *self.located.get(from.0 as usize)?;
        let place = end.place?;
        let beginning = profile.symbols.get(block.symbol.index())?.start;
        let place = DsoAddress {
            address: block.start.unwrap_or(beginning),
            ..place
        };
        let mut line_of = |located: Located| {
            let place = located.place?;
            let line = names
                .source(machine.objects(), place.dso)
                .and_then(|source| source.line(place.address));
            Some(
                sources
                    .of(&located, line.as_ref(), text, (names, machine), profile)
                    .line,
            )
        };
        Some([
            line_of(Located {
                place: Some(place),
                ..end
            })?,
            line_of(end)?,
        ])
    }
}
