//! Calls and returns of code that ran, where nothing else is asked of it. Blocks run again and again: what each calls is
//! kept.

use intel_pt::{BasicBlock, BlockVisit, Decoder, Located};
use oxperf_session::SampleFlags;

use super::flags::flags_of;
use crate::stack::{Call, Calls};

/// Return addresses that are kept at most.
const MOST: usize = 1 << 20;

/// Nothing is kept.
const NONE: u32 = u32::MAX;

/// What a visit of a block calls.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The return addresses of its calls whose targets are always the same.
    calls: (u32, u32),
    last: Last,
}

/// The branch at the end of a block, if its target varies and it matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    None,
    /// A call that returns here.
    Call(u64),
    Return,
}

/// The kept calls of a decoder's blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockCalls {
    epoch: u64,
    /// Of each block, not branching and branching: which of `kept` it is.
    slots: Vec<[u32; 2]>,
    kept: Vec<Kept>,
    addresses: Vec<u64>,
}

impl BlockCalls {
    /// Tells of the calls and returns of the decoder's run, all of which ran.
    pub(crate) fn follow(&mut self, decoder: &Decoder<'_>, told: &mut impl Calls) {
        let visits = decoder.visits();
        if self.epoch != decoder.epoch() || self.addresses.len() > MOST {
            *self = BlockCalls {
                epoch: decoder.epoch(),
                ..BlockCalls::default()
            };
        }
        for (index, visit) in visits.iter().enumerate() {
            let number = self.number(decoder, *visit);
            let kept = self.kept[number];
            for &return_address in &self.addresses[kept.calls.0 as usize..kept.calls.1 as usize] {
                told.call(Call {
                    return_address,
                    untraced: false,
                });
            }
            if kept.last != Last::None {
                let next = visits
                    .get(index + 1)
                    .map(|next| decoder.address(next.block()));
                let to = next.or(decoder.arrived_at()).unwrap_or(0);
                match kept.last {
                    Last::Call(return_address) if to != 0 && to != return_address => {
                        told.call(Call {
                            return_address,
                            untraced: false,
                        });
                    }
                    Last::Return => told.return_to(to),
                    Last::Call(_) | Last::None => {}
                }
            }
        }
    }

    /// Which of the kept calls are those of a visit.
    #[inline]
    fn number(&mut self, decoder: &Decoder<'_>, visit: BlockVisit) -> usize {
        let slot = self
            .slots
            .get(visit.block().index())
            .map(|slots| slots[usize::from(visit.taken())]);
        match slot {
            Some(number) if number != NONE => number as usize,
            _ => self.keep(decoder, visit),
        }
    }

    #[cold]
    fn keep(&mut self, decoder: &Decoder<'_>, visit: BlockVisit) -> usize {
        let (block, start) = (decoder.block(visit.block()), self.addresses.len() as u32);
        let last = self.list_calls(block).or_else(|| {
            block
                .instructions()
                .last()
                .filter(|_| visit.taken())
                .copied()
        });
        let last = match last.map(|last| (last, flags_of(last.class))) {
            Some((last, flags)) if flags.contains(SampleFlags::CALL) => Last::Call(last.behind()),
            Some((_, flags)) if flags.contains(SampleFlags::RETURN) => Last::Return,
            _ => Last::None,
        };
        let number = self.kept.len();
        self.kept.push(Kept {
            calls: (start, self.addresses.len() as u32),
            last,
        });
        let index = visit.block().index();
        if self.slots.len() <= index {
            self.slots.resize(index + 1, [NONE; 2]);
        }
        self.slots[index][usize::from(visit.taken())] = number as u32;
        number
    }

    /// Lists the calls within a block; gives the jump at its end, if it has one.
    fn list_calls(&mut self, block: BasicBlock<'_>) -> Option<Located> {
        let instructions = block.instructions();
        for jump in block.jumps() {
            let from = instructions[usize::from(*jump)];
            let next = instructions.get(usize::from(*jump) + 1);
            let Some(next) = next else { return Some(from) };
            if flags_of(from.class).contains(SampleFlags::CALL) && from.behind() != next.ip {
                self.addresses.push(from.behind());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use intel_pt::{Config, EmitOptions, Item, TraceChunk};

    use super::*;
    use crate::select::block_text::tests::{code, trace};
    use crate::stack::{Followed, Step, ThreadStack};

    const CALLS: Followed = Followed {
        calls: true,
        branches: 0,
    };

    #[test]
    fn kept_calls_are_those_of_each_branch() {
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
        let mut calls = BlockCalls::default();
        let (mut stepped, mut followed, mut deep) =
            (ThreadStack::default(), ThreadStack::default(), 0);
        loop {
            match decoder.next(&mut code) {
                Item::End => break,
                Item::Path if decoder.ran_whole() => {
                    calls.follow(&decoder, &mut followed);
                    for branch in decoder.branches() {
                        let (flags, length) = (flags_of(branch.from.class), branch.from.length);
                        let (from, to) = (branch.from.ip, branch.to.unwrap_or(0));
                        stepped.step(
                            &Step {
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
