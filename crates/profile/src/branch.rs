//! Branches that samples carry.

use oxperf_abi::BranchEntry;

use super::FrameId;

/// A branch, as far as it is told apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SampleBranch {
    /// The branching instruction.
    pub from: BranchEnd,
    /// What it led to.
    pub to: BranchEnd,
    /// The flag word of [`BranchEntry`]; bits that nobody asks for are 0.
    pub flags: u64,
}

/// One end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BranchEnd {
    /// What lies there.
    pub frame: FrameId,
    /// The address as it was recorded and in its object's own addresses, where addresses tell branches apart.
    pub address: Option<(u64, u64)>,
}

impl SampleBranch {
    /// True if the flags have a bit, one of those that [`BranchEntry`] names.
    pub const fn is(&self, bit: u64) -> bool {
        self.flags & bit != 0
    }

    /// The cycles since the branch before, as perf reads them: with a sign.
    pub const fn cycles(&self) -> i16 {
        ((self.flags & BranchEntry::CYCLES) >> 4) as u16 as i16
    }
}
