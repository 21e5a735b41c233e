//! The reason why a walk ended.

use std::fmt;

/// The reason for the end of a walk over a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum UnwindEnd {
    /// The outermost function: the stack is complete.
    Outermost,
    /// As many frames were found as were wanted.
    Limit,
    /// A value lies behind the part of the stack that was copied.
    CopyTooShort,
    /// Nothing is mapped where the code should be.
    Unmapped,
    /// The file that the code came from is not here, or not in the recorded version.
    ObjectMissing,
    /// No table says how this function keeps its caller's registers, and it has no frame pointer.
    NoUnwindInfo,
    /// A table that should say it is damaged.
    DamagedUnwindInfo,
    /// A register that is needed was not recorded or not kept.
    RegisterUnknown,
    /// A value lies in memory that was not recorded.
    MemoryUnknown,
    /// A frame would be its own caller.
    Loop,
    /// The registers are not those of a processor or mode that can be unwound.
    ForeignRegisters,
}

impl UnwindEnd {
    /// Every reason.
    pub const ALL: [UnwindEnd; 11] = [
        UnwindEnd::Outermost,
        UnwindEnd::Limit,
        UnwindEnd::CopyTooShort,
        UnwindEnd::Unmapped,
        UnwindEnd::ObjectMissing,
        UnwindEnd::NoUnwindInfo,
        UnwindEnd::DamagedUnwindInfo,
        UnwindEnd::RegisterUnknown,
        UnwindEnd::MemoryUnknown,
        UnwindEnd::Loop,
        UnwindEnd::ForeignRegisters,
    ];

    /// Returns whether the stack is cut: it had more frames than were found.
    pub fn is_cut(self) -> bool {
        !matches!(self, UnwindEnd::Outermost | UnwindEnd::Limit)
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            UnwindEnd::Outermost => "complete",
            UnwindEnd::Limit => "as many frames as were asked for",
            UnwindEnd::CopyTooShort => "the recorded part of the stack ends",
            UnwindEnd::Unmapped => "nothing is mapped there",
            UnwindEnd::ObjectMissing => "the object is missing, or is another version",
            UnwindEnd::NoUnwindInfo => "no unwind information",
            UnwindEnd::DamagedUnwindInfo => "damaged unwind information",
            UnwindEnd::RegisterUnknown => "a register is not known",
            UnwindEnd::MemoryUnknown => "memory that was not recorded",
            UnwindEnd::Loop => "the frame calls itself",
            UnwindEnd::ForeignRegisters => "registers of another kind",
        }
    }

    /// Advice to the user, where there is something.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            UnwindEnd::CopyTooShort => Some("record more of it: --call-graph dwarf,65528"),
            UnwindEnd::ObjectMissing => Some("bring the recorded files: --symfs"),
            UnwindEnd::NoUnwindInfo => {
                Some("build with -fasynchronous-unwind-tables or -fno-omit-frame-pointer")
            }
            _ => None,
        }
    }
}

impl fmt::Display for UnwindEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Number of walks that ended for each reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnwindEndCounts([u64; UnwindEnd::ALL.len()]);

impl UnwindEndCounts {
    /// Counts one walk.
    pub fn add(&mut self, end: UnwindEnd) {
        self.0[end as usize] += 1;
    }

    /// Number of walks that ended so.
    pub fn of(&self, end: UnwindEnd) -> u64 {
        self.0[end as usize]
    }

    /// All walks.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason that cut stacks, with how many.
    pub fn cut(&self) -> impl Iterator<Item = (UnwindEnd, u64)> + '_ {
        let cut = UnwindEnd::ALL.into_iter().filter(|end| end.is_cut());
        cut.map(|end| (end, self.of(end)))
            .filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_count() {
        let mut counts = UnwindEndCounts::default();
        UnwindEnd::ALL.into_iter().for_each(|end| counts.add(end));
        assert!(UnwindEnd::ALL.into_iter().all(|end| counts.of(end) == 1));
        assert_eq!((counts.total(), counts.cut().count()), (11, 9));
    }
}
