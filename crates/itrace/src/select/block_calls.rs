//! Calls and returns of code that ran, where nothing else is asked of it. Blocks run again and again: the calls of each
//! are cached.

use intel_pt::{BasicBlock, BlockVisit, Decoder, Located};
use oxperf_session::SampleFlags;

use super::flags::class_flags;
use super::point::known;
use super::visit_slots::VisitSlots;
use crate::stack::{Call, CallObserver};

/// Most return addresses that are cached.
const MAX_ADDRESSES: usize = 1 << 20;

/// The calls of a visit of a block.
#[derive(Clone, Copy, Debug)]
struct CachedCalls {
    /// The first return address of its calls whose targets are always the same.
    first: u32,
    /// The end of these addresses.
    end: u32,
    last: LastBranch,
}

/// The branch at the end of a block, if its target varies and it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LastBranch {
    None,
    /// A call that returns here.
    Call(u64),
    Return,
}

/// The cached calls of a decoder's blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockCallCache {
    epoch: u64,
    blocks: VisitSlots,
    cached: Vec<CachedCalls>,
    addresses: Vec<u64>,
}

impl BlockCallCache {
    /// Reports the calls and returns of the decoder's path, all of which ran.
    pub(crate) fn follow(&mut self, decoder: &Decoder<'_>, observer: &mut impl CallObserver) {
        let visits = decoder.visits();
        if self.epoch != decoder.epoch() || self.addresses.len() > MAX_ADDRESSES {
            *self = BlockCallCache {
                epoch: decoder.epoch(),
                ..BlockCallCache::default()
            };
        }
        for (index, visit) in visits.iter().enumerate() {
            let number = self.number(decoder, *visit);
            let cached = self.cached[number];
            for &return_address in &self.addresses[cached.first as usize..cached.end as usize] {
                observer.call(Call {
                    return_address,
                    untraced: false,
                });
            }
            if cached.last != LastBranch::None {
                let next = visits
                    .get(index + 1)
                    .and_then(|next| decoder.address(next.block()));
                let to = known(next.or(decoder.arrived_at()));
                match cached.last {
                    LastBranch::Call(return_address)
                        if to.is_some_and(|to| to != return_address) =>
                    {
                        observer.call(Call {
                            return_address,
                            untraced: false,
                        });
                    }
                    LastBranch::Return => observer.return_to(to.unwrap_or(0)),
                    LastBranch::Call(_) | LastBranch::None => {}
                }
            }
        }
    }

    /// The number of the cached calls of a visit.
    #[inline]
    fn number(&mut self, decoder: &Decoder<'_>, visit: BlockVisit) -> usize {
        match self.blocks.get(visit) {
            Some(number) => number,
            None => self.cache(decoder, visit),
        }
    }

    #[cold]
    fn cache(&mut self, decoder: &Decoder<'_>, visit: BlockVisit) -> usize {
        let (block, first) = (decoder.block(visit.block()), self.addresses.len() as u32);
        let last = self.cache_calls(block).or_else(|| {
            block
                .instructions()
                .last()
                .filter(|_| visit.taken())
                .copied()
        });
        let last = match last.map(|last| (last, class_flags(last.class))) {
            Some((last, flags)) if flags.contains(SampleFlags::CALL) => {
                LastBranch::Call(last.behind())
            }
            Some((_, flags)) if flags.contains(SampleFlags::RETURN) => LastBranch::Return,
            _ => LastBranch::None,
        };
        let number = self.cached.len();
        self.cached.push(CachedCalls {
            first,
            end: self.addresses.len() as u32,
            last,
        });
        self.blocks.set(visit, number);
        number
    }

    /// Caches the calls within a block; gives the jump at its end, if it has one.
    fn cache_calls(&mut self, block: BasicBlock<'_>) -> Option<Located> {
        let instructions = block.instructions();
        for jump in block.jumps() {
            let from = instructions[usize::from(*jump)];
            let next = instructions.get(usize::from(*jump) + 1);
            let Some(next) = next else { return Some(from) };
            if class_flags(from.class).contains(SampleFlags::CALL) && from.behind() != next.ip {
                self.addresses.push(from.behind());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use intel_pt::{Config, EmitOptions, Item, TraceChunk};

    use super::*;
    use crate::select::block_text::tests::{code, trace};
    use crate::stack::{BranchStep, FollowOptions, ThreadStack};

    const CALLS: FollowOptions = FollowOptions {
        calls: true,
        branches: None,
    };

    #[test]
    fn cached_calls_are_those_of_each_branch() {
        let (trace, mut code) = (trace(), code());
        let mut decoder = Decoder::new(
            Config::default(),
            EmitOptions {
                paths: true,
                ..EmitOptions::default()
            },
        );
        decoder.push(TraceChunk {
            bytes: &trace,
            offset: 0,
            consecutive: false,
            reference: None,
        });
        let mut calls = BlockCallCache::default();
        let (mut stepped, mut followed, mut deep) =
            (ThreadStack::default(), ThreadStack::default(), 0);
        loop {
            match decoder.next(&mut code) {
                Item::End => break,
                Item::Path if decoder.ran_whole() => {
                    calls.follow(&decoder, &mut followed);
                    for branch in decoder.branches() {
                        let flags = class_flags(branch.from.class);
                        let length = NonZeroU8::new(branch.from.length);
                        let (from, to) = (Some(branch.from.ip), branch.to);
                        stepped.step(
                            &BranchStep {
                                flags,
                                from,
                                to,
                                length,
                                stretch: 0,
                            },
                            CALLS,
                        );
                    }
                    assert_eq!(followed, stepped);
                    deep += usize::from(followed.depth() > 0);
                }
                _ => {}
            }
        }
        assert!(deep > 1);
    }
}
