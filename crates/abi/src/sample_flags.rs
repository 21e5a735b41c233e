//! Flags of samples that were made of hardware trace.

/// The kind of branch at a sample's address and the state of its CPU: perf's `PERF_IP_FLAG` bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SampleFlags(pub u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:expr;)*) => {
        impl SampleFlags {
            $($(#[$doc])* pub const $name: SampleFlags = SampleFlags(1 << $bit);)*
        }
    };
}

flags! {
    /// A branch.
    BRANCH = 0;
    /// It calls.
    CALL = 1;
    /// It returns.
    RETURN = 2;
    /// It is conditional.
    CONDITIONAL = 3;
    /// It enters the kernel or returns from there, as asked for.
    SYSCALL = 4;
    /// It is no instruction's doing.
    ASYNC = 5;
    /// It is an interrupt.
    INTERRUPT = 6;
    /// A transaction was aborted.
    TX_ABORT = 7;
    /// Tracing begins.
    TRACE_BEGIN = 8;
    /// Tracing ends.
    TRACE_END = 9;
    /// A transaction runs.
    IN_TX = 10;
    /// A guest is entered.
    VM_ENTRY = 11;
    /// A guest is left.
    VM_EXIT = 12;
    /// Interrupts are disabled.
    INTERRUPTS_DISABLED = 13;
    /// Whether interrupts are disabled changes.
    INTERRUPTS_TOGGLED = 14;
}

impl SampleFlags {
    /// Whether all of `other` is in.
    pub const fn contains(self, other: SampleFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in.
    pub const fn meets(self, other: SampleFlags) -> bool {
        self.0 & other.0 != 0
    }

    /// This set without `other`.
    #[must_use]
    pub const fn without(self, other: SampleFlags) -> SampleFlags {
        SampleFlags(self.0 & !other.0)
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: SampleFlags) -> SampleFlags {
        SampleFlags(self.0 | other.0)
    }
}

impl std::ops::BitOr for SampleFlags {
    type Output = SampleFlags;
    fn bitor(self, other: SampleFlags) -> SampleFlags {
        self.with(other)
    }
}
