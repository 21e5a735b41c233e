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
}

impl SortKey {
    /// The keys of a report that was not told any.
    pub const DEFAULT: [SortKey; 3] = [SortKey::Comm, SortKey::Dso, SortKey::Symbol];

    const NAMES: [(&'static str, SortKey); 10] = [
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
    ];

    /// The key of a name on the command line; a beginning of a name is enough, letters of either case.
    pub fn parse(name: &str) -> Option<SortKey> {
        let wanted = name.to_ascii_lowercase();
        let mut known = Self::NAMES.iter();
        known.find(|(full, _)| !wanted.is_empty() && full.starts_with(&wanted)).map(|&(_, key)| key)
    }

    /// Whether the key depends on the sample's task and not on where the code stands.
    pub(crate) const fn of_task(self) -> bool {
        matches!(self, SortKey::Thread | SortKey::Process | SortKey::Comm | SortKey::Cpu | SortKey::Trace)
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
