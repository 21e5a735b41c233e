//! The call chains of samples, wherever a sample has its callers: as recorded, from the CPU, or in a copy of its stack.

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleEvent;
use oxperf_unwind::{UnwindEnd, UnwindEndCounts};
use oxperf_wire::Sample;

use crate::chain::{kept_calls, walk_calls, walk_chain};
use crate::stitch::Stitches;
use crate::unwinder::Unwinder;

/// Limits of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainOptions {
    /// Most recorded addresses, and most that a stack gives besides.
    pub max_stack: usize,
    /// Of a longer recorded chain the outermost addresses count, not the innermost.
    pub keep_outermost: bool,
    /// So many calls the CPU keeps, where callers that it no longer kept are to be those of the thread's sample before.
    pub stitch: Option<u32>,
}

impl Default for ChainOptions {
    /// As many as perf takes.
    fn default() -> ChainOptions {
        ChainOptions {
            max_stack: 127,
            keep_outermost: false,
            stitch: None,
        }
    }
}

/// One sample's chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain<'a> {
    /// Addresses with their modes, innermost first.
    pub addresses: &'a [(CpuMode, u64)],
    /// The reason why the copy of its stack gave no more addresses; `None` for a sample without such a copy.
    pub end: Option<UnwindEnd>,
}

/// Number of chains, or of their parts, that could not be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChainLosses {
    /// Chains with markers that are not known: they are left out.
    pub faulty: u64,
    /// The reason why walks over stacks ended.
    pub ends: UnwindEndCounts,
}

/// Gives each sample its chain.
#[derive(Debug, Default)]
pub struct Chains {
    options: ChainOptions,
    unwinder: Option<Unwinder>,
    stitches: Option<Stitches>,
    addresses: Vec<(CpuMode, u64)>,
    losses: ChainLosses,
}

impl Chains {
    /// Chains as they were recorded; those in copies of stacks, too, if there is an unwinder.
    pub fn new(options: ChainOptions, unwinder: Option<Unwinder>) -> Chains {
        Chains {
            options,
            unwinder,
            stitches: options.stitch.map(Stitches::new),
            ..Chains::default()
        }
    }

    /// Returns whether it helps to see samples before their turn.
    pub fn wants_batches(&self) -> bool {
        self.unwinder.is_some()
    }

    /// Prepares the chains of samples whose turn comes next, on all cores.
    pub fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        if let Some(unwinder) = &mut self.unwinder {
            unwinder.unwind_all(machine, samples, self.options.max_stack);
        }
    }

    /// The chain of a sample.
    pub fn of(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> Chain<'_> {
        let faulty = self.record(event.misc.cpu_mode(), &event.sample, Some(event.thread));
        let end = self.unwind(machine, event);
        self.losses.faulty += u64::from(faulty);
        end.iter().for_each(|end| self.losses.ends.add(*end));
        Chain {
            addresses: &self.addresses,
            end,
        }
    }

    /// Adds what a copy of the stack gives; tells why it gave no more.
    fn unwind(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> Option<UnwindEnd> {
        let limit = self.options.max_stack;
        let unwound = match (&mut self.unwinder, event.prefetched) {
            (Some(unwinder), Some(place)) => unwinder.unwound(place),
            (Some(unwinder), None) => unwinder.unwind(machine, event.thread, &event.sample, limit),
            (None, _) => None,
        }?;
        self.addresses.extend(
            unwound
                .addresses
                .iter()
                .map(|address| (CpuMode::User, *address)),
        );
        Some(unwound.end)
    }

    /// The recorded part of a chain; empty when it holds a marker that is not known.
    pub fn recorded(&mut self, mode: CpuMode, sample: &Sample<'_>) -> &[(CpuMode, u64)] {
        let faulty = self.record(mode, sample, None);
        self.losses.faulty += u64::from(faulty);
        &self.addresses
    }

    /// Looks whether the recorded part of a chain that nobody asks for could be had.
    pub fn pass_over(&mut self, sample: &Sample<'_>) {
        self.losses.faulty += u64::from(walk_chain(sample, |_, _| {}).is_err());
    }

    /// The losses of the chains so far.
    pub fn losses(&self) -> ChainLosses {
        self.losses
    }

    /// Takes the recorded part; tells whether it is left out, because a marker of it is not known. Where the thread is
    /// given, its calls are remembered.
    fn record(&mut self, mode: CpuMode, sample: &Sample<'_>, thread: Option<ThreadId>) -> bool {
        let addresses = &mut self.addresses;
        addresses.clear();
        let take = |mode, address| addresses.push((mode, address));
        let walked = match kept_calls(sample, self.options.max_stack) {
            Some(calls) => {
                let beyond = match (&mut self.stitches, thread) {
                    (Some(stitches), Some(thread)) => stitches.beyond(thread, &calls),
                    _ => &[],
                };
                walk_calls(mode, sample, &calls, beyond, take)
            }
            None => {
                let walked = walk_chain(sample, take);
                self.limit();
                walked
            }
        };
        if walked.is_err() {
            self.addresses.clear();
        }
        walked.is_err()
    }

    /// Leaves out what is too much of a chain. Calls that the CPU kept are never too many.
    fn limit(&mut self) {
        match self.addresses.len().checked_sub(self.options.max_stack) {
            Some(excess) if self.options.keep_outermost => drop(self.addresses.drain(..excess)),
            Some(_) => self.addresses.truncate(self.options.max_stack),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, FileOffset, Misc, SampleType};
    use oxperf_machine::ThreadId;
    use oxperf_objects::SearchPaths;
    use oxperf_session::EventIndex;
    use oxperf_wire::{Endian, SampleLayout};

    const PARTS: SampleType =
        SampleType(SampleType::CALLCHAIN.0 | SampleType::REGS_USER.0 | SampleType::STACK_USER.0);

    /// The bytes of a sample in the kernel whose user part is at `ip`, where nothing is mapped.
    fn body(ip: u64) -> Vec<u8> {
        let stack = [8, 0, 8];
        let chain = [2, -128_i64 as u64, 9];
        let registers = [2, 0x7000, ip];
        chain
            .iter()
            .chain(&registers)
            .chain(&stack)
            .flat_map(|word: &u64| word.to_le_bytes())
            .collect()
    }

    fn event<'a>(bytes: &'a [u8], ahead: Option<usize>) -> SampleEvent<'a> {
        let sp_and_ip = 1 << 7 | 1 << 8;
        let attr = EventAttr {
            sample_type: PARTS,
            sample_regs_user: sp_and_ip,
            ..EventAttr::default()
        };
        let sample = SampleLayout::new(&attr)
            .decode_sample(bytes, Endian::Little)
            .unwrap();
        let (event, offset, misc) = (EventIndex(0), FileOffset(0), Misc(1));
        SampleEvent {
            event,
            offset,
            misc,
            sample,
            thread: ThreadId(0),
            period: 1,
            traced: None,
            prefetched: ahead,
        }
    }

    #[test]
    fn a_stack_is_the_same_alone_and_among_others() {
        let machine = Machine::default();
        let unwinder = Unwinder::new(SearchPaths::default(), Some("x86_64"));
        let mut chains = Chains::new(ChainOptions::default(), Some(unwinder));
        let bodies: Vec<Vec<u8>> = (0..9).map(|number| body(0x40_0000 + number)).collect();
        let events: Vec<SampleEvent<'_>> = bodies.iter().map(|body| event(body, None)).collect();
        chains.prefetch(&machine, &events);
        for (place, bytes) in bodies.iter().enumerate() {
            let expected = [
                (CpuMode::Kernel, 9),
                (CpuMode::User, 0x40_0000 + place as u64),
            ];
            for ahead in [None, Some(place)] {
                let chain = chains.of(&machine, &event(bytes, ahead));
                assert_eq!(
                    (chain.addresses, chain.end),
                    (&expected[..], Some(UnwindEnd::Unmapped))
                );
            }
        }
        assert_eq!(chains.losses().ends.of(UnwindEnd::Unmapped), 18);
    }

    #[test]
    fn without_an_unwinder_the_recorded_part_is_all() {
        let bytes = body(1);
        let mut chains = Chains::default();
        let chain = chains.of(&Machine::default(), &event(&bytes, None));
        assert_eq!(
            (chain.addresses, chain.end),
            (&[(CpuMode::Kernel, 9)][..], None)
        );
    }
}
