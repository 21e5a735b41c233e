//! Branch stacks: what to sample, and the entries.

use crate::bits::bit_word;

bit_word! {
    /// `perf_event_attr.branch_sample_type`: which branches, and what of each.
    BranchSampleType: u64 {
        /// User branches.
        USER = 0, "USER";
        /// Kernel branches.
        KERNEL = 1, "KERNEL";
        /// Hypervisor branches.
        HV = 2, "HV";
        /// Any branch.
        ANY = 3, "ANY";
        /// Any call.
        ANY_CALL = 4, "ANY_CALL";
        /// Any return.
        ANY_RETURN = 5, "ANY_RETURN";
        /// Indirect calls.
        IND_CALL = 6, "IND_CALL";
        /// Transaction aborts.
        ABORT_TX = 7, "ABORT_TX";
        /// Inside a transaction.
        IN_TX = 8, "IN_TX";
        /// Outside transactions.
        NO_TX = 9, "NO_TX";
        /// Conditional branches.
        COND = 10, "COND";
        /// Call stack mode.
        CALL_STACK = 11, "CALL_STACK";
        /// Indirect jumps.
        IND_JUMP = 12, "IND_JUMP";
        /// Direct calls.
        CALL = 13, "CALL";
        /// Leave the flags out.
        NO_FLAGS = 14, "NO_FLAGS";
        /// Leave the cycles out.
        NO_CYCLES = 15, "NO_CYCLES";
        /// Save the branch type.
        TYPE_SAVE = 16, "TYPE_SAVE";
        /// Save the hardware index.
        HW_INDEX = 17, "HW_INDEX";
        /// Save the privilege level.
        PRIV_SAVE = 18, "PRIV_SAVE";
        /// Save the counters.
        COUNTERS = 19, "COUNTERS";
    }
}

/// One taken branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Its target.
    pub to: u64,
    /// The flag word, little-endian bit order: 0 mispredicted, 1 predicted, 2 in transaction, 3 abort,
    /// 4-19 cycles, 20-23 type, 24-25 speculation, 26-29 new type, 30-32 privilege, 33 not taken.
    pub flags: u64,
}

impl BranchEntry {
    /// The bit of a branch that was predicted wrongly.
    pub const MISPREDICTED: u64 = 1;
    /// The bit of a branch that was predicted rightly.
    pub const PREDICTED: u64 = 1 << 1;
    /// The bit of a branch in a transaction.
    pub const IN_TRANSACTION: u64 = 1 << 2;
    /// The bit of a branch that a transaction's abort was.
    pub const ABORT: u64 = 1 << 3;
    /// The bits of the cycles.
    pub const CYCLES: u64 = 0xffff << 4;

    /// The bit of a branch that was not taken.
    pub const NOT_TAKEN: u64 = 1 << 33;

    /// Number of kinds that [`BranchEntry::kind`] knows.
    pub const KINDS: usize = 15 + 8;
    /// The kind of a conditional branch.
    pub const CONDITIONAL: usize = 1;

    /// The kind of branch, as the kernel counts kinds: those of its later list follow those of the first. `None` where the
    /// CPU does not report it.
    pub const fn kind(&self) -> Option<usize> {
        const LATER: usize = 15;
        let (kind, later) = (
            (self.flags >> 20 & 15) as usize,
            (self.flags >> 26 & 15) as usize,
        );
        match kind {
            0 => None,
            LATER if LATER + later < Self::KINDS => Some(LATER + later),
            LATER => None,
            kind => Some(kind),
        }
    }

    /// Returns whether the flags have one of some bits.
    pub const fn is(&self, bit: u64) -> bool {
        self.flags & bit != 0
    }

    /// The cycles since the branch before; 0 where the CPU does not count them.
    pub const fn cycles(&self) -> u16 {
        ((self.flags & Self::CYCLES) >> 4) as u16
    }
}
