//! Why a walk ended.

use std::fmt;

/// What ended a walk over a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum End {
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

impl End {
    /// Every reason.
    pub const ALL: [End; 11] = [
        End::Outermost,
        End::Limit,
        End::CopyTooShort,
        End::Unmapped,
        End::ObjectMissing,
        End::NoUnwindInfo,
        End::DamagedUnwindInfo,
        End::RegisterUnknown,
        End::MemoryUnknown,
        End::Loop,
        End::ForeignRegisters,
    ];

    /// Whether the stack is cut: it had more frames than were found.
    pub fn is_cut(self) -> bool {
        !matches!(self, End::Outermost | End::Limit)
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            End::Outermost => "complete",
            End::Limit => "as many frames as were asked for",
            End::CopyTooShort => "the recorded part of the stack ends",
            End::Unmapped => "nothing is mapped there",
            End::ObjectMissing => "the object is missing, or is another version",
            End::NoUnwindInfo => "no unwind information",
            End::DamagedUnwindInfo => "damaged unwind information",
            End::RegisterUnknown => "a register is not known",
            End::MemoryUnknown => "memory that was not recorded",
            End::Loop => "the frame calls itself",
            End::ForeignRegisters => "registers of another kind",
        }
    }

    /// What a user can do about it, where there is something.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            End::CopyTooShort => Some("record more of it: --call-graph dwarf,65528"),
            End::ObjectMissing => Some("bring the recorded files: --symfs"),
            End::NoUnwindInfo => {
                Some("build with -fasynchronous-unwind-tables or -fno-omit-frame-pointer")
            }
            _ => None,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// How often walks ended for each reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EndCounts([u64; End::ALL.len()]);

impl EndCounts {
    /// Counts one walk.
    pub fn add(&mut self, end: End) {
        self.0[end as usize] += 1;
    }

    /// How many walks ended so.
    pub fn of(&self, end: End) -> u64 {
        self.0[end as usize]
    }

    /// All walks.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason that cut stacks, with how many.
    pub fn cut(&self) -> impl Iterator<Item = (End, u64)> + '_ {
        let cut = End::ALL.into_iter().filter(|end| end.is_cut());
        cut.map(|end| (end, self.of(end)))
            .filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_count() {
        let mut counts = EndCounts::default();
        End::ALL.into_iter().for_each(|end| counts.add(end));
        assert!(End::ALL.into_iter().all(|end| counts.of(end) == 1));
        assert_eq!((counts.total(), counts.cut().count()), (11, 9));
    }
}
