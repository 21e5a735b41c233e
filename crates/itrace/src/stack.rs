//! The calls that a thread is in, and its last branches, followed through the trace.

mod changes;

use std::collections::VecDeque;
use std::num::NonZeroU8;

use oxperf_abi::{BranchEntry, KERNEL_START};
use oxperf_session::SampleFlags;

pub(crate) use changes::{StackChange, StackChanges};

/// The history that is followed of each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FollowOptions {
    /// Calls and returns.
    pub(crate) calls: bool,
    /// The number of last branches, if they are kept.
    pub(crate) branches: Option<usize>,
}

/// A branch of the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BranchStep {
    pub(crate) flags: SampleFlags,
    /// `None` where tracing begins.
    pub(crate) from: Option<u64>,
    /// `None` where tracing ends.
    pub(crate) to: Option<u64>,
    /// Bytes of the branching instruction; `None` where no instruction branched.
    pub(crate) length: Option<NonZeroU8>,
    /// Number of the trace without a gap that it is part of; 0 before any is known.
    pub(crate) stretch: u64,
}

impl BranchStep {
    fn entry(&self) -> BranchEntry {
        const ABORT: u64 = 1 << 3;
        const IN_TX: u64 = 1 << 2;
        let bit = |flag, bit| if self.flags.contains(flag) { bit } else { 0 };
        let flags = bit(SampleFlags::TX_ABORT, ABORT) | bit(SampleFlags::IN_TX, IN_TX);
        BranchEntry {
            from: self.from.unwrap_or(0),
            to: self.to.unwrap_or(0),
            flags,
        }
    }

    /// The address behind the branching instruction.
    fn return_address(&self) -> u64 {
        let length = self.length.map_or(0, |length| u64::from(length.get()));
        self.from.unwrap_or(0).wrapping_add(length)
    }

    /// Reports a call or a return, if it is one.
    fn report_to(&self, calls: &mut impl CallObserver) {
        if self.flags.contains(SampleFlags::CALL) {
            let return_address = self.return_address();
            // A call of the next instruction only asks where it is.
            if self.to.is_some_and(|to| to != return_address) {
                calls.call(Call {
                    return_address,
                    untraced: self.flags.contains(SampleFlags::TRACE_END),
                });
            }
        } else if self.flags.contains(SampleFlags::RETURN) && self.from.is_some() {
            calls.return_to(self.to.unwrap_or(0));
        }
    }
}

/// A call that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    pub(crate) return_address: u64,
    /// Tracing ended with the call: nobody will see it return.
    pub(crate) untraced: bool,
}

/// Receives calls and returns.
pub(crate) trait CallObserver {
    /// A call.
    fn call(&mut self, call: Call);

    /// A return to an address: some calls above it may never have returned. One that no call fits is left alone.
    fn return_to(&mut self, to: u64);
}

impl CallObserver for ThreadStack {
    #[inline]
    fn call(&mut self, call: Call) {
        if self.calls.len() == ThreadStack::DEEPEST {
            self.calls.drain(..ThreadStack::DEEPEST / 2);
        }
        self.calls.push(call);
    }

    #[inline]
    fn return_to(&mut self, to: u64) {
        if let Some(index) = self
            .calls
            .iter()
            .rposition(|call| call.return_address == to)
        {
            self.calls.truncate(index);
        }
    }
}

/// The calls and branches of one thread.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ThreadStack {
    calls: Vec<Call>,
    branches: VecDeque<BranchEntry>,
    stretch: u64,
}

impl ThreadStack {
    /// No program calls deeper; beyond it the outermost half is lost.
    const DEEPEST: usize = 1 << 20;

    /// Calls that the thread is in.
    pub(crate) fn depth(&self) -> usize {
        self.calls.len()
    }

    /// Calls above which a stack may lose its outermost half soon.
    pub(crate) const DEEP: usize = ThreadStack::DEEPEST - 4 * StackChanges::MAX;

    /// Follows a branch.
    pub(crate) fn step(&mut self, step: &BranchStep, follow: FollowOptions) {
        self.enter(step.stretch);
        if let Some(limit) = follow.branches {
            self.note_branch(step.entry(), limit);
        }
        if follow.calls {
            self.follow(step);
        }
    }

    /// Goes on in the trace without a gap that has this number.
    pub(crate) fn enter(&mut self, stretch: u64) {
        if stretch != self.stretch {
            // Calls before the gap say nothing about those behind it.
            if self.stretch != 0 {
                self.calls.clear();
                self.branches.clear();
            }
            self.stretch = stretch;
        }
    }

    /// Makes changes that were collected elsewhere.
    pub(crate) fn apply(&mut self, changes: &[StackChange], follow: FollowOptions) {
        for change in changes {
            match *change {
                StackChange::Call(call) => self.call(call),
                StackChange::Return(to) => self.return_to(to),
                StackChange::Branch(entry) => {
                    if let Some(limit) = follow.branches {
                        self.note_branch(entry, limit);
                    }
                }
            }
        }
    }

    fn note_branch(&mut self, entry: BranchEntry, limit: usize) {
        self.branches.truncate(limit - 1);
        self.branches.push_front(entry);
    }

    fn follow(&mut self, step: &BranchStep) {
        if step.flags.contains(SampleFlags::TRACE_BEGIN) && !step.flags.contains(SampleFlags::CALL)
        {
            self.return_to(step.to.unwrap_or(0));
            while self.calls.last().is_some_and(|call| call.untraced) {
                self.calls.pop();
            }
        } else {
            step.report_to(self);
        }
    }

    /// Writes the call chain at `ip`, with `limit` words and marker words between worlds.
    pub(crate) fn chain(&self, ip: u64, limit: usize, out: &mut Vec<u64>) {
        out.clear();
        if limit < 2 {
            return;
        }
        out.extend([context(ip), ip]);
        fill(
            self.calls.iter().rev().map(|call| call.return_address),
            Some(context(ip)),
            limit,
            out,
        );
    }

    /// Writes the chain of a sample that was taken some branches ago: its own world's newer calls are left out.
    pub(crate) fn chain_of_recorded(&self, ip: u64, limit: usize, out: &mut Vec<u64>) {
        out.clear();
        if limit < 2 {
            return;
        }
        let newer = |address: &u64| {
            context(*address) == USER || *address == ip && context(ip) == context(*address)
        };
        let addresses = self.calls.iter().rev().map(|call| call.return_address);
        fill(
            addresses.skip_while(|address| !newer(address)),
            None,
            limit,
            out,
        );
        if out.is_empty() {
            out.extend([context(ip), ip]);
        }
    }

    /// The last branches, newest first.
    pub(crate) fn branches(&self) -> impl Iterator<Item = BranchEntry> + '_ {
        self.branches.iter().copied()
    }
}

/// The markers of call chains.
const KERNEL: u64 = -128i64 as u64;
const USER: u64 = -512i64 as u64;

/// The marker word of an address' world.
fn context(ip: u64) -> u64 {
    if ip < KERNEL_START { USER } else { KERNEL }
}

fn fill(
    addresses: impl Iterator<Item = u64>,
    mut world: Option<u64>,
    limit: usize,
    out: &mut Vec<u64>,
) {
    for address in addresses {
        if out.len() >= limit {
            return;
        }
        let context = context(address);
        if world != Some(context) {
            if out.len() >= limit - 1 {
                return;
            }
            out.push(context);
            world = Some(context);
        }
        out.push(address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: SampleFlags = SampleFlags::BRANCH.with(SampleFlags::CALL);
    const RETURN: SampleFlags = SampleFlags::BRANCH.with(SampleFlags::RETURN);
    const ALL: FollowOptions = FollowOptions {
        calls: true,
        branches: Some(2),
    };

    fn step(flags: SampleFlags, from: u64, to: u64) -> BranchStep {
        BranchStep {
            flags,
            from: Some(from).filter(|from| *from != 0),
            to: Some(to),
            length: NonZeroU8::new(5),
            stretch: 1,
        }
    }

    fn stack(steps: &[BranchStep]) -> ThreadStack {
        let mut stack = ThreadStack::default();
        steps.iter().for_each(|step| stack.step(step, ALL));
        stack
    }

    fn chain(stack: &ThreadStack, ip: u64, limit: usize) -> Vec<u64> {
        let mut out = Vec::new();
        stack.chain(ip, limit, &mut out);
        out
    }

    #[test]
    fn calls_are_on_the_stack_until_they_return() {
        let calls = [
            step(CALL, 10, 100),
            step(CALL, 110, 200),
            step(CALL, 205, 210),
        ];
        assert_eq!(chain(&stack(&calls), 201, 9), [USER, 201, 115, 15]);
        let back = [&calls[..], &[step(RETURN, 220, 15)]].concat();
        assert_eq!(chain(&stack(&back), 16, 9), [USER, 16]);
        let nowhere = [&calls[..], &[step(RETURN, 220, 999)]].concat();
        assert_eq!(stack(&nowhere).depth(), 2);
    }

    #[test]
    fn chains_are_cut_and_worlds_marked() {
        let kernel = KERNEL_START + 100;
        let stack = stack(&[
            step(CALL, 10, 100),
            step(CALL, 110, kernel),
            step(CALL, kernel, kernel + 50),
        ]);
        let whole = [KERNEL, kernel + 51, kernel + 5, USER, 115, 15];
        assert_eq!(chain(&stack, kernel + 51, 9), whole);
        assert_eq!(chain(&stack, kernel + 51, 4), whole[..3]);
        assert_eq!(chain(&stack, kernel + 51, 5), whole[..5]);
    }

    #[test]
    fn a_gap_clears_and_a_beginning_pops_calls_that_left_the_trace() {
        let mut gap = stack(&[step(CALL, 10, 100)]);
        gap.step(
            &BranchStep {
                stretch: 2,
                ..step(CALL, 30, 300)
            },
            ALL,
        );
        assert_eq!(chain(&gap, 300, 9), [USER, 300, 35]);
        let begin = SampleFlags::BRANCH | SampleFlags::TRACE_BEGIN;
        let left = stack(&[
            step(CALL, 10, 100),
            step(CALL | SampleFlags::TRACE_END, 110, 400),
            step(begin, 0, 120),
        ]);
        assert_eq!(left.depth(), 1);
    }

    #[test]
    fn the_last_branches_are_kept_newest_first() {
        let stack = stack(&[step(CALL, 1, 2), step(RETURN, 3, 4), step(CALL, 5, 6)]);
        let kept: Vec<_> = stack
            .branches()
            .map(|branch| (branch.from, branch.to))
            .collect();
        assert_eq!(kept, [(5, 6), (3, 4)]);
    }
}
