//! The calls and last branches of all threads, as samples hold them.

use oxperf_abi::{BranchEntry, Cpu, KERNEL_START};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleEvent;
use oxperf_wire::{BranchStack, Endian, Words};
use rustc_hash::FxHashMap;

use crate::options::StackSelection;
use crate::queue::QueueDecoder;
use crate::stack::{FollowOptions, StackChange, ThreadStack};

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

    /// The key of the thread that runs.
    fn of_queue(queue: &QueueDecoder<'_>, machine: &Machine) -> Option<StackKey> {
        Some(StackKey::new(
            machine,
            queue.running.thread?,
            queue.running.cpu,
        ))
    }
}

/// The history of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampleHistory<'s> {
    /// Its call chain.
    pub(crate) callchain: Option<Words<'s>>,
    /// Its last branches.
    pub(crate) branches: Option<BranchStack<'s>>,
}

/// The stacks of all threads.
#[derive(Debug)]
pub(crate) struct ThreadStacks {
    options: StackSelection,
    follow: FollowOptions,
    threads: FxHashMap<StackKey, ThreadStack>,
    /// Buffers of the history that the next sample holds.
    chain: Vec<u64>,
    chain_words: Vec<u8>,
    branch_words: Vec<u8>,
}

impl ThreadStacks {
    pub(super) fn new(options: StackSelection) -> ThreadStacks {
        let branches = options.last_branch.then_some(options.last_branch_size);
        // A branch into the kernel may stand between a sample and the place that it was taken of.
        let more = options
            .add_last_branch
            .then_some(options.last_branch_size + 1);
        ThreadStacks {
            follow: FollowOptions {
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

    /// The history that is followed of each thread.
    pub(super) fn follow(&self) -> FollowOptions {
        self.follow
    }

    /// The stack of the thread that runs, where the trace goes on.
    #[inline]
    pub(super) fn of_queue(
        &mut self,
        queue: &QueueDecoder<'_>,
        machine: &Machine,
    ) -> Option<&mut ThreadStack> {
        let stack = self
            .threads
            .entry(StackKey::of_queue(queue, machine)?)
            .or_default();
        stack.enter(queue.feed.stretch);
        Some(stack)
    }

    /// Makes the changes that workers collected for the thread that runs.
    pub(crate) fn apply(
        &mut self,
        queue: &QueueDecoder<'_>,
        machine: &Machine,
        changes: &[StackChange],
    ) {
        let follow = self.follow;
        if follow != FollowOptions::default()
            && let Some(stack) = self.of_queue(queue, machine)
        {
            stack.apply(changes, follow);
        }
    }

    /// True when the calls of the thread that runs are so many that each has to be followed in order.
    pub(crate) fn is_deep(&self, queue: &QueueDecoder<'_>, machine: &Machine) -> bool {
        let stack = StackKey::of_queue(queue, machine).and_then(|key| self.threads.get(&key));
        stack.is_some_and(|stack| stack.depth() > ThreadStack::DEEP)
    }

    /// Calls that a thread is in, for lines that are indented by it.
    pub(super) fn depth(&self, key: StackKey) -> u32 {
        if !self.options.thread_stack {
            return 0;
        }
        self.threads
            .get(&key)
            .map_or(0, |stack| u32::try_from(stack.depth()).unwrap_or(u32::MAX))
    }

    /// The history of a sample at `ip`, as far as it is asked for.
    pub(super) fn of_sample(&mut self, key: StackKey, ip: u64) -> SampleHistory<'_> {
        let ThreadStacks {
            options,
            threads,
            chain,
            chain_words,
            branch_words,
            ..
        } = self;
        if !options.callchain && !options.last_branch {
            return SampleHistory::default();
        }
        let stack = threads.entry(key).or_default();
        let callchain = options.callchain.then(|| {
            stack.chain(ip, options.callchain_size + 1, chain);
            replace(chain_words, chain.iter().copied())
        });
        let branches = options.last_branch.then(|| {
            let latest = stack.branches().take(options.last_branch_size);
            let words = latest.flat_map(|entry| entry_words(entry, options.mispredicted));
            BranchStack::from_words(replace(branch_words, words))
        });
        SampleHistory {
            callchain,
            branches,
        }
    }

    /// The history of a recorded sample: the parts that are asked for and that it does not have.
    pub(crate) fn of_recorded(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> SampleHistory<'_> {
        let ThreadStacks {
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
            return SampleHistory::default();
        }
        let key = StackKey::new(machine, event.thread, event.sample.cpu);
        let stack = threads.entry(key).or_default();
        let ip = event.sample.ip.unwrap_or(0);
        let callchain = chained.then(|| {
            stack.chain_of_recorded(ip, options.callchain_size + 1, chain);
            replace(chain_words, chain.iter().copied())
        });
        let branches = branched.then(|| {
            // The trace of a sample in user space ends where the kernel took it.
            let latest = stack
                .branches()
                .skip_while(|branch| ip < KERNEL_START && !is_user(branch.to))
                .take(options.last_branch_size);
            let words = latest.flat_map(|entry| entry_words(entry, options.mispredicted));
            BranchStack::from_words(replace(branch_words, words))
        });
        SampleHistory {
            callchain,
            branches,
        }
    }
}

/// An entry of a branch stack; marked as predicted wrongly where all are.
fn entry_words(entry: BranchEntry, mispredicted: bool) -> [u64; 3] {
    const MISPREDICTED: u64 = 1;
    let mark = if mispredicted { MISPREDICTED } else { 0 };
    [entry.from, entry.to, entry.flags | mark]
}

fn is_user(address: u64) -> bool {
    address != 0 && address < KERNEL_START
}

/// Puts words in the place of those that were there.
fn replace(out: &mut Vec<u8>, words: impl Iterator<Item = u64>) -> Words<'_> {
    out.clear();
    words.for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    Words::new(out, Endian::Little)
}
