//! The changes that a chunk of trace makes to a stack that is not known yet: calls that return within it leave nothing behind.

use std::collections::VecDeque;

use oxperf_abi::BranchEntry;

use super::{BranchStep, Call, CallObserver, FollowOptions};

/// A change of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StackChange {
    /// A call.
    Call(Call),
    /// A return to this address, from a call before the chunk or from nothing.
    Return(u64),
    /// A branch among the last ones.
    Branch(BranchEntry),
}

/// The changes so far.
#[derive(Debug, Default)]
pub(crate) struct StackChanges {
    /// Calls and returns.
    changes: Vec<StackChange>,
    /// Changes before this one cannot be undone: their effect depends on the stack before.
    settled: usize,
    /// The last branches, the oldest first.
    branches: VecDeque<BranchEntry>,
    /// Something happened, if it left nothing behind or not.
    happened: bool,
}

impl StackChanges {
    /// Most that are kept: more need the stack itself.
    pub(crate) const MAX: usize = 1 << 16;

    /// True when there are more than are kept.
    pub(crate) fn are_too_many(&self) -> bool {
        self.changes.len() > StackChanges::MAX
    }

    /// Code ran that may have called and returned.
    pub(crate) fn happen(&mut self) {
        self.happened = true;
    }

    /// Follows a branch.
    pub(crate) fn step(&mut self, step: &BranchStep, follow: FollowOptions) {
        self.happen();
        if let Some(limit) = follow.branches {
            if self.branches.len() == limit {
                self.branches.pop_front();
            }
            self.branches.push_back(step.entry());
        }
        if follow.calls {
            step.report_to(self);
        }
    }

    /// Appends the changes so far to `out`; true when anything happened.
    pub(crate) fn hand_over(&mut self, out: &mut Vec<StackChange>) -> bool {
        out.append(&mut self.changes);
        out.extend(self.branches.drain(..).map(StackChange::Branch));
        self.settled = 0;
        std::mem::take(&mut self.happened)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.branches.clear();
        (self.settled, self.happened) = (0, false);
    }
}

impl CallObserver for StackChanges {
    #[inline]
    fn call(&mut self, call: Call) {
        self.changes.push(StackChange::Call(call));
    }

    #[inline]
    fn return_to(&mut self, to: u64) {
        let fits = |made: &StackChange| matches!(made, StackChange::Call(call) if call.return_address == to);
        match self.changes[self.settled..].iter().rposition(fits) {
            Some(index) => self.changes.truncate(self.settled + index),
            None => {
                self.changes.push(StackChange::Return(to));
                self.settled = self.changes.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use oxperf_session::SampleFlags;

    use super::*;
    use crate::stack::ThreadStack;

    const FOLLOWED: FollowOptions = FollowOptions {
        calls: true,
        branches: Some(3),
    };

    /// Calls and returns that fit each other now and then.
    fn steps(seed: u64) -> Vec<BranchStep> {
        let mut state = seed;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let step = |_| {
            let kind = [
                SampleFlags::CALL,
                SampleFlags::RETURN,
                SampleFlags::RETURN,
                SampleFlags::CONDITIONAL,
            ];
            let flags = SampleFlags::BRANCH | kind[next(4) as usize];
            BranchStep {
                flags,
                from: Some(100 + next(6)),
                to: Some(105 + next(6)),
                length: NonZeroU8::new(5),
                stretch: 1,
            }
        };
        (0..60).map(step).collect()
    }

    #[test]
    fn what_others_saw_is_what_the_stack_would_have_seen() {
        let mut shorter = false;
        for seed in 0..500 {
            let steps = steps(seed);
            let (mut stepped, mut applied) = (ThreadStack::default(), ThreadStack::default());
            for part in steps.chunks(1 + seed as usize % 25) {
                let (mut changes, mut handed_over) = (StackChanges::default(), Vec::new());
                for step in part {
                    stepped.step(step, FOLLOWED);
                    changes.step(step, FOLLOWED);
                }
                assert!(changes.hand_over(&mut handed_over));
                shorter |= handed_over.len() + 5 < part.len();
                applied.enter(1);
                applied.apply(&handed_over, FOLLOWED);
                assert_eq!(stepped, applied, "{seed}");
            }
        }
        assert!(shorter);
    }
}
