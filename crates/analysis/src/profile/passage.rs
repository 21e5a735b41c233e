//! What the branches say that lead through call chains.

use oxperf_abi::BranchEntry;

use super::BranchKinds;

/// An entry of a call chain that stands for an end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passage {
    /// The branch.
    pub branch: BranchEntry,
    /// Whether the entry is what the branch led to, and not the branching instruction.
    pub is_target: bool,
    /// Rounds of a loop that lie behind it and are left out of the chain.
    pub rounds: u32,
    /// Cycles of the last of them.
    pub round_cycles: u64,
}

/// What all passages of one place say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// How often it was passed.
    pub times: u64,
    /// Whether branches led there, and not away from there.
    pub is_target: bool,
    /// Of branches that led there, those that were predicted rightly.
    pub predicted: u64,
    /// Of branches that led there, those that were aborts of transactions.
    pub aborted: u64,
    /// Their kinds.
    pub kinds: BranchKinds,
    /// The cycles before branches that led away.
    pub cycles: u64,
    /// Rounds of loops that are left out.
    pub rounds: u64,
    /// Cycles of those.
    pub round_cycles: u64,
}

impl Passed {
    /// Adds a passage of so many samples.
    pub(crate) fn add(&mut self, passage: &Passage, samples: u64) {
        let Passage { branch, is_target, rounds, round_cycles } = *passage;
        self.times += samples;
        self.is_target = is_target;
        if is_target {
            self.predicted += if branch.is(BranchEntry::PREDICTED) { samples } else { 0 };
            self.aborted += if branch.is(BranchEntry::ABORT) { samples } else { 0 };
            self.kinds.add(&branch, samples);
        } else {
            self.cycles += samples * u64::from(branch.cycles());
            self.rounds += samples * u64::from(rounds);
            self.round_cycles = self.round_cycles.saturating_add(samples.saturating_mul(round_cycles));
        }
    }
}
