//! Call chains that go on with the branches that the sample carries: how the program came to where it was, not just what
//! had not returned.
//!
//! A branch is two entries: what it led to, and the branching instruction. Rounds of a loop are left out, and counted at
//! the branch before which they were.

mod loops;

use oxperf_abi::{BranchEntry, CallchainContext, CpuMode};
use oxperf_machine::Machine;
use oxperf_session::SampleEvent;
use oxperf_wire::Words;
use rustc_hash::FxHashMap;

use loops::{Taken, without_loops};
use oxperf_profile::{BranchHistoryId, BranchStep, BranchStepId, Profile};

/// Most branches that a sample can have; one with more is damaged.
const MOST_BRANCHES: usize = 127;

/// How far a call takes the return address from the calling instruction, at most.
const LONGEST_CALL: u64 = 8;

/// An entry of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    mode: CpuMode,
    address: u64,
    passage: Option<BranchStep>,
}

/// Puts such chains together, and numbers the lists of branches.
#[derive(Debug, Default)]
pub(super) struct HistoryChains {
    /// Most branches, and most callers.
    most: usize,
    /// Chains are read from callers to callees: branches from the oldest to the newest, then callers.
    oldest_first: bool,
    branch_steps: FxHashMap<BranchStep, BranchStepId>,
    branch_histories: FxHashMap<Box<[BranchStepId]>, BranchHistoryId>,
}

impl HistoryChains {
    pub(super) fn new(most: usize, oldest_first: bool) -> HistoryChains {
        HistoryChains {
            most,
            oldest_first,
            ..HistoryChains::default()
        }
    }

    /// The chain of a sample in the order in which it is read.
    fn chain(&self, machine: &Machine, event: &SampleEvent<'_>) -> Vec<Entry> {
        let stack = event.sample.branch_stack;
        let mut branches: Vec<BranchEntry> =
            stack.iter().flat_map(|stack| stack.entries()).collect();
        if branches.len() > MOST_BRANCHES {
            branches.clear();
        }
        if self.oldest_first {
            branches.reverse();
        }
        branches.truncate(self.most);
        let callers = event.sample.callchain.map(callers).unwrap_or_default();
        let told = if self.oldest_first {
            0
        } else {
            told_by_branches(&branches, event.sample.callchain)
        };
        let taken = without_loops(&branches);
        let place = |address: u64, passage| {
            // The recording does not tell what mode either end ran in.
            let mode = machine.guess_mode(event.thread, address);
            Entry {
                mode,
                address,
                passage: Some(passage),
            }
        };
        let ends = taken.iter().flat_map(
            |&Taken {
                 branch,
                 rounds,
                 cycles,
             }| {
                let target = BranchStep {
                    branch,
                    is_target: true,
                    rounds: 0,
                    round_cycles: 0,
                };
                let source = BranchStep {
                    is_target: false,
                    rounds,
                    round_cycles: cycles,
                    ..target
                };
                [place(branch.to, target), place(branch.from, source)]
            },
        );
        let mut chain: Vec<Entry> = ends.collect();
        let words = event.sample.callchain.map_or(0, |words| words.len());
        let room = words.min(self.most).saturating_sub(taken.len());
        let callers = callers
            .into_iter()
            .map(|(nth, entry)| match self.oldest_first {
                true => (words - 1 - nth, entry),
                false => (nth, entry),
            });
        let mut callers: Vec<(usize, Entry)> = callers
            .filter(|(nth, _)| (told..room).contains(nth))
            .collect();
        callers.sort_by_key(|(nth, _)| *nth);
        chain.extend(callers.into_iter().take(self.most).map(|(_, entry)| entry));
        chain
    }

    /// The addresses of a sample's chain, innermost first, and which part of them is branches.
    pub(super) fn take(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
        profile: &mut Profile,
    ) -> (Vec<(CpuMode, u64)>, BranchHistoryId) {
        let chain = self.chain(machine, event);
        let branch_steps: Box<[BranchStepId]> = chain
            .iter()
            .filter_map(|entry| Some(self.passage(entry.passage?, profile)))
            .collect();
        let history = *self
            .branch_histories
            .entry(branch_steps)
            .or_insert_with_key(|branch_steps| {
                profile.branch_histories.push(branch_steps.clone());
                BranchHistoryId(profile.branch_histories.len() as u32 - 1)
            });
        let mut addresses: Vec<(CpuMode, u64)> = chain
            .iter()
            .map(|entry| (entry.mode, entry.address))
            .collect();
        if self.oldest_first {
            addresses.reverse();
        }
        (addresses, history)
    }

    /// The number of a passage.
    fn passage(&mut self, passage: BranchStep, profile: &mut Profile) -> BranchStepId {
        *self.branch_steps.entry(passage).or_insert_with(|| {
            profile.branch_steps.push(passage);
            BranchStepId(profile.branch_steps.len() as u32 - 1)
        })
    }
}

/// The addresses of a recorded chain with their places among its words.
fn callers(words: Words<'_>) -> Vec<(usize, Entry)> {
    let mut mode = CpuMode::User;
    let mut entries = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        match CallchainContext::from_word(word) {
            None => entries.push((
                nth,
                Entry {
                    mode,
                    address: word,
                    passage: None,
                },
            )),
            Some(CallchainContext::Hypervisor) => mode = CpuMode::Hypervisor,
            Some(CallchainContext::Kernel) => mode = CpuMode::Kernel,
            Some(CallchainContext::User) => mode = CpuMode::User,
            Some(CallchainContext::GuestKernel | CallchainContext::Guest) => {
                mode = CpuMode::GuestKernel
            }
            Some(CallchainContext::GuestUser) => mode = CpuMode::GuestUser,
            Some(CallchainContext::UserDeferred | CallchainContext::Unknown(_)) => break,
        }
    }
    entries
}

/// How many words of a chain say what the newest branches say, too: calls that have not returned are among them.
fn told_by_branches(branches: &[BranchEntry], words: Option<Words<'_>>) -> usize {
    let Some(words) = words else { return 0 };
    let mut told = 0;
    for branch in branches {
        let Some(word) = words.get(told) else { break };
        let is_marker = CallchainContext::from_word(word).is_some();
        let returns = branch.from < word && branch.from >= word.wrapping_sub(LONGEST_CALL);
        told += usize::from(is_marker || returns);
    }
    told
}
