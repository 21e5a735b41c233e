//! Sort keys: what a row of the table is about.

/// One column that tells rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SortKey {
    /// The thread: `pid` in perf's words, though it shows and compares the thread id.
    Thread,
    /// The process.
    Process,
    /// The thread's name.
    Comm,
    /// The object's short name.
    Dso,
    /// The symbol, or the address where none is known.
    Symbol,
    /// The CPU.
    Cpu,
    /// The text of a tracepoint's record.
    Trace,
    /// The source line.
    SourceLine,
    /// The source file.
    SourceFile,
    /// Something about the branch that a row is about.
    Branch(BranchKey),
}

/// What can be told about a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BranchKey {
    /// The object of the branching instruction.
    DsoFrom,
    /// The object that it led to.
    DsoTo,
    /// The symbol of the branching instruction, or its address where none is known.
    SymbolFrom,
    /// The symbol that it led to.
    SymbolTo,
    /// The address of the branching instruction.
    AddressFrom,
    /// The address that it led to.
    AddressTo,
    /// The source line of the branching instruction.
    LineFrom,
    /// The source line that it led to.
    LineTo,
    /// Whether it was predicted wrongly.
    Mispredicted,
    /// Whether it was in a transaction.
    InTransaction,
    /// Whether it was the abort of a transaction.
    Abort,
    /// The cycles since the branch before.
    Cycles,
}

impl SortKey {
    /// The keys of a report that was not told any.
    pub const DEFAULT: [SortKey; 3] = [SortKey::Comm, SortKey::Dso, SortKey::Symbol];

    /// The keys of a report of branches that was not told any.
    pub const DEFAULT_OF_BRANCHES: [SortKey; 5] = [
        SortKey::Comm,
        SortKey::Branch(BranchKey::DsoFrom),
        SortKey::Branch(BranchKey::SymbolFrom),
        SortKey::Branch(BranchKey::SymbolTo),
        SortKey::Branch(BranchKey::Cycles),
    ];

    const NAMES: [(&'static str, SortKey); 22] = [
        ("pid", SortKey::Thread),
        ("comm", SortKey::Comm),
        ("dso", SortKey::Dso),
        ("symbol", SortKey::Symbol),
        ("cpu", SortKey::Cpu),
        ("srcline", SortKey::SourceLine),
        ("srcfile", SortKey::SourceFile),
        ("tgid", SortKey::Process),
        ("tid", SortKey::Thread),
        ("trace", SortKey::Trace),
        ("dso_from", SortKey::Branch(BranchKey::DsoFrom)),
        ("dso_to", SortKey::Branch(BranchKey::DsoTo)),
        ("symbol_from", SortKey::Branch(BranchKey::SymbolFrom)),
        ("symbol_to", SortKey::Branch(BranchKey::SymbolTo)),
        ("mispredict", SortKey::Branch(BranchKey::Mispredicted)),
        ("abort", SortKey::Branch(BranchKey::Abort)),
        ("in_tx", SortKey::Branch(BranchKey::InTransaction)),
        ("cycles", SortKey::Branch(BranchKey::Cycles)),
        ("srcline_from", SortKey::Branch(BranchKey::LineFrom)),
        ("srcline_to", SortKey::Branch(BranchKey::LineTo)),
        ("addr_from", SortKey::Branch(BranchKey::AddressFrom)),
        ("addr_to", SortKey::Branch(BranchKey::AddressTo)),
    ];

    /// The key of a name on the command line; a beginning of a name is enough, letters of either case.
    pub fn parse(name: &str) -> Option<SortKey> {
        let wanted = name.to_ascii_lowercase();
        let mut known = Self::NAMES.iter();
        known.find(|(full, _)| !wanted.is_empty() && full.starts_with(&wanted)).map(|&(_, key)| key)
    }

    /// Whether the key depends on the sample's task, or its branch, and not on where the code stands.
    pub(crate) const fn of_task(self) -> bool {
        matches!(
            self,
            SortKey::Thread
                | SortKey::Process
                | SortKey::Comm
                | SortKey::Cpu
                | SortKey::Trace
                | SortKey::Branch(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_of_a_name_is_enough() {
        assert_eq!(SortKey::parse("sym"), Some(SortKey::Symbol));
        assert_eq!(SortKey::parse("TGID"), Some(SortKey::Process));
        assert_eq!(SortKey::parse("symbols"), None);
        assert_eq!(SortKey::parse(""), None);
    }
}
