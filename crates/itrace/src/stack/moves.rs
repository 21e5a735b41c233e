//! What a stretch of trace does to a stack that is not known yet: calls that return within it leave nothing behind.

use std::collections::VecDeque;

use oxperf_abi::BranchEntry;

use super::{Call, Calls, Followed, Step};

/// A change of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// A call.
    Call(Call),
    /// A return to this address, from what was called before the stretch or from nothing.
    Return(u64),
    /// A branch among the last ones.
    Branch(BranchEntry),
}

/// The changes so far.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// Calls and returns.
    moves: Vec<Move>,
    /// Moves before this one cannot be undone: what they do depends on what was there.
    settled: usize,
    /// The last branches, the oldest first.
    branches: VecDeque<BranchEntry>,
    /// Something happened, if it left nothing behind or not.
    happened: bool,
}

impl Moves {
    /// So many are kept; who makes more has to see the stack itself.
    pub(crate) const MOST: usize = 1 << 16;

    /// Whether there are more than are kept.
    pub(crate) fn are_too_many(&self) -> bool {
        self.moves.len() > Moves::MOST
    }

    /// Code ran that may have called and returned.
    pub(crate) fn happen(&mut self) {
        self.happened = true;
    }

    /// Follows a branch.
    pub(crate) fn step(&mut self, step: &Step, followed: Followed) {
        self.happen();
        if followed.branches > 0 {
            if self.branches.len() == followed.branches {
                self.branches.pop_front();
            }
            self.branches.push_back(step.entry());
        }
        if followed.calls {
            step.tell_to(self);
        }
    }

    /// Takes what happened so far to where others find it; whether anything did.
    pub(crate) fn hand_over(&mut self, out: &mut Vec<Move>) -> bool {
        out.append(&mut self.moves);
        out.extend(self.branches.drain(..).map(Move::Branch));
        self.settled = 0;
        std::mem::take(&mut self.happened)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.moves.clear();
        self.branches.clear();
        (self.settled, self.happened) = (0, false);
    }
}

impl Calls for Moves {
    #[inline]
    fn call(&mut self, call: Call) {
        self.moves.push(Move::Call(call));
    }

    #[inline]
    fn return_to(&mut self, to: u64) {
        let fits = |made: &Move| matches!(made, Move::Call(call) if call.return_address == to);
        match self.moves[self.settled..].iter().rposition(fits) {
            Some(index) => self.moves.truncate(self.settled + index),
            None => {
                self.moves.push(Move::Return(to));
                self.settled = self.moves.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use oxperf_session::SampleFlags;

    use super::*;
    use crate::stack::ThreadStack;

    const FOLLOWED: Followed = Followed {
        calls: true,
        branches: 3,
    };

    /// Calls and returns that fit each other now and then.
    fn steps(seed: u64) -> Vec<Step> {
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
            Step {
                flags,
                from: 100 + next(6),
                to: 105 + next(6),
                length: 5,
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
                let (mut moves, mut handed_over) = (Moves::default(), Vec::new());
                for step in part {
                    stepped.step(step, FOLLOWED);
                    moves.step(step, FOLLOWED);
                }
                assert!(moves.hand_over(&mut handed_over));
                shorter |= handed_over.len() + 5 < part.len();
                applied.enter(1);
                applied.apply(&handed_over, FOLLOWED);
                assert_eq!(stepped, applied, "{seed}");
            }
        }
        assert!(shorter);
    }
}
