//! The calls and last branches of all threads, as samples hold them.

use oxperf_abi::Cpu;
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleEvent;
use oxperf_wire::{BranchStack, Endian, Words};
use rustc_hash::FxHashMap;

use crate::code::KERNEL_START;
use crate::options::StackSelection;
use crate::queue::Lane;
use crate::stack::{Followed, Move, ThreadStack};

/// A thread; of the idle thread there is one on every CPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct StackKey {
    thread: ThreadId,
    cpu: Option<Cpu>,
}

impl StackKey {
    pub(super) fn new(machine: &Machine, thread: ThreadId, cpu: Option<Cpu>) -> StackKey {
        StackKey {
            thread,
            cpu: cpu.filter(|_| machine.thread_info(thread).tid.0 == 0),
        }
    }

    /// Of the thread that runs.
    fn of_lane(lane: &Lane<'_>, machine: &Machine) -> Option<StackKey> {
        Some(StackKey::new(
            machine,
            lane.running.thread?,
            lane.running.cpu,
        ))
    }
}

/// The stacks of all threads.
#[derive(Debug)]
pub(crate) struct Stacks {
    options: StackSelection,
    followed: Followed,
    threads: FxHashMap<StackKey, ThreadStack>,
    /// Room for what the next sample holds.
    chain: Vec<u64>,
    chain_words: Vec<u8>,
    branch_words: Vec<u8>,
}

impl Stacks {
    pub(super) fn new(options: StackSelection) -> Stacks {
        let branches = if options.last_branch {
            options.last_branch_size
        } else {
            0
        };
        // A branch into the kernel may stand between a sample and what it was taken of.
        let more = if options.add_last_branch {
            options.last_branch_size + 1
        } else {
            0
        };
        Stacks {
            followed: Followed {
                calls: options.follows_calls(),
                branches: branches.max(more),
            },
            options,
            threads: FxHashMap::default(),
            chain: Vec::new(),
            chain_words: Vec::new(),
            branch_words: Vec::new(),
        }
    }

    /// What is followed.
    pub(super) fn followed(&self) -> Followed {
        self.followed
    }

    /// The stack of the thread that runs, for what the trace tells of it now.
    #[inline]
    pub(super) fn of_lane(
        &mut self,
        lane: &Lane<'_>,
        machine: &Machine,
    ) -> Option<&mut ThreadStack> {
        let stack = self
            .threads
            .entry(StackKey::of_lane(lane, machine)?)
            .or_default();
        stack.enter(lane.feed.stretch);
        Some(stack)
    }

    /// Does what others saw the code of the thread do that runs.
    pub(crate) fn apply(&mut self, lane: &Lane<'_>, machine: &Machine, moves: &[Move]) {
        let followed = self.followed;
        if followed != Followed::default()
            && let Some(stack) = self.of_lane(lane, machine)
        {
            stack.apply(moves, followed);
        }
    }

    /// Whether the calls of the thread that runs are so many that each has to be followed in order.
    pub(crate) fn is_deep(&self, lane: &Lane<'_>, machine: &Machine) -> bool {
        let stack = StackKey::of_lane(lane, machine).and_then(|key| self.threads.get(&key));
        stack.is_some_and(|stack| stack.depth() > ThreadStack::DEEP)
    }

    /// How deep in calls a thread is, for those who indent by it.
    pub(super) fn depth(&self, key: StackKey) -> u32 {
        if !self.options.thread_stack {
            return 0;
        }
        self.threads
            .get(&key)
            .map_or(0, |stack| u32::try_from(stack.depth()).unwrap_or(u32::MAX))
    }

    /// The call chain and the last branches of a sample at `ip`, as far as they are asked for.
    pub(super) fn of_sample(
        &mut self,
        key: StackKey,
        ip: u64,
    ) -> (Option<Words<'_>>, Option<BranchStack<'_>>) {
        let Stacks {
            options,
            threads,
            chain,
            chain_words,
            branch_words,
            ..
        } = self;
        if !options.callchain && !options.last_branch {
            return (None, None);
        }
        let stack = threads.entry(key).or_default();
        if options.callchain {
            stack.chain(ip, options.callchain_size + 1, chain);
            replace(chain_words, chain.iter().copied());
        }
        if options.last_branch {
            let kept = stack.branches().take(options.last_branch_size);
            replace(
                branch_words,
                kept.flat_map(|branch| [branch.from, branch.to, branch.flags]),
            );
        }
        let words = |words| Words::new(words, Endian::Little);
        (
            options.callchain.then(|| words(chain_words)),
            options
                .last_branch
                .then(|| BranchStack::from_words(words(branch_words))),
        )
    }

    /// The call chain and the last branches of a recorded sample: of each what it does not have and what is asked for.
    pub(super) fn of_recorded(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> (Option<Words<'_>>, Option<BranchStack<'_>>) {
        let Stacks {
            options,
            threads,
            chain,
            chain_words,
            branch_words,
            ..
        } = self;
        let chained = options.add_callchain && event.sample.callchain.is_none();
        let branched = options.add_last_branch && event.sample.branch_stack.is_none();
        if !chained && !branched {
            return (None, None);
        }
        let key = StackKey::new(machine, event.thread, event.sample.cpu);
        let (stack, ip) = (
            threads.entry(key).or_default(),
            event.sample.ip.unwrap_or(0),
        );
        if chained {
            stack.chain_of_recorded(ip, options.callchain_size + 1, chain);
            replace(chain_words, chain.iter().copied());
        }
        if branched {
            // The trace of a sample in user space ends where the kernel took it.
            let kept = stack
                .branches()
                .skip_while(|branch| ip < KERNEL_START && !is_user(branch.to));
            let kept = kept.take(options.last_branch_size);
            replace(
                branch_words,
                kept.flat_map(|branch| [branch.from, branch.to, branch.flags]),
            );
        }
        let words = |words| Words::new(words, Endian::Little);
        (
            chained.then(|| words(chain_words)),
            branched.then(|| BranchStack::from_words(words(branch_words))),
        )
    }
}

fn is_user(address: u64) -> bool {
    address != 0 && address < KERNEL_START
}

/// Puts words in the place of what was there.
fn replace(out: &mut Vec<u8>, words: impl Iterator<Item = u64>) {
    out.clear();
    words.for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}
