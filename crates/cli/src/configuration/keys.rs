//! The keys of perf's manual: what values they have, what a bad one means, and the commands here that read them.
//! `docs/config.md` has the same table.

use std::fmt;

use super::value;

/// The values of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number.
    Number,
    /// A decimal number.
    Decimal,
    /// A size of stack copies in bytes: a number up to 65528.
    StackSize,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The beginning of one of these words.
    WordBeginning(&'static [&'static str]),
    /// A way to record call chains.
    RecordMode,
    /// Foreground and background, with a comma between.
    Colours,
    /// Any text.
    Text,
}

impl Kind {
    /// `true` if a value is one of these.
    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Kind::Flag => value::flag(text).is_some(),
            Kind::Number => value::number(text).is_some(),
            Kind::Decimal => value::leading_decimal(text).is_some(),
            Kind::StackSize => value::number(text).is_some_and(|size| (1..=65528).contains(&size)),
            Kind::Word(words) => words.contains(&text),
            Kind::WordBeginning(words) => {
                !text.is_empty() && words.iter().any(|word| word.starts_with(text))
            }
            Kind::RecordMode => {
                let mode = text.split_once(',').map_or(text, |(mode, _)| mode);
                ["fp", "dwarf", "lbr"].contains(&mode)
            }
            Kind::Colours | Kind::Text => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Flag => f.write_str("true or false"),
            Kind::Number => f.write_str("a whole number"),
            Kind::Decimal => f.write_str("a number"),
            Kind::StackSize => f.write_str("a size in bytes up to 65528"),
            Kind::Word(words) | Kind::WordBeginning(words) => match words.split_last() {
                Some((last, [])) => f.write_str(last),
                Some((last, others)) => write!(f, "{} or {last}", others.join(", ")),
                None => Ok(()),
            },
            Kind::RecordMode => f.write_str("fp, dwarf[,SIZE] or lbr"),
            Kind::Colours => f.write_str("FOREGROUND,BACKGROUND"),
            Kind::Text => f.write_str("a text"),
        }
    }
}

/// The consequence of a value that is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadValue {
    /// It is reported and counts for nothing.
    Ignored,
    /// It is reported with this text before perf's message, and counts for nothing.
    Reported(&'static str),
    /// The command ends; the text stands before perf's message, unless it is empty.
    Fatal(&'static str),
}

/// The commands that read a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Readers {
    /// Every command.
    All,
    /// These alone.
    Commands(&'static [&'static str]),
    /// None: the key is that of a command that does not exist here, or of a program that is not run here.
    None,
}

/// A key of perf's manual.
#[derive(Debug)]
pub(crate) struct Key {
    /// Section and name; a `*` stands for any name.
    pub(crate) name: &'static str,
    /// Its values.
    pub(crate) kind: Kind,
    /// The consequence of a bad value.
    pub(crate) bad_value: BadValue,
    /// The commands that read it.
    pub(crate) readers: Readers,
}

impl Key {
    /// The key of this name, if the manual has it.
    pub(crate) fn of(name: &str) -> Option<&'static Key> {
        let matches = |key: &&Key| match key.name.strip_suffix('*') {
            Some(section) => name.starts_with(section),
            None => key.name == name,
        };
        ALL.iter().find(matches)
    }

    /// `true` if a command reads it.
    pub(super) fn is_read_by(&self, command: &str) -> bool {
        match self.readers {
            Readers::All => true,
            Readers::Commands(commands) => commands.contains(&command),
            Readers::None => false,
        }
    }
}

const fn key(name: &'static str, kind: Kind, readers: Readers) -> Key {
    Key {
        name,
        kind,
        bad_value: BadValue::Ignored,
        readers,
    }
}

const fn fatal(name: &'static str, kind: Kind, explanation: &'static str, readers: Readers) -> Key {
    Key {
        name,
        kind,
        bad_value: BadValue::Fatal(explanation),
        readers,
    }
}

const REPORT: Readers = Readers::Commands(&["report"]);
const ANNOTATE: Readers = Readers::Commands(&["annotate"]);
const ANNOTATED: Readers = Readers::Commands(&["report", "annotate"]);
const DIFF: Readers = Readers::Commands(&["diff"]);
const RECORD: Readers = Readers::Commands(&["record", "profile"]);
/// Those that decode hardware trace.
const DECODED: Readers = Readers::Commands(&[
    "annotate", "bundle", "diff", "export", "report", "script", "symbols",
]);
const SHOWN: Readers = Readers::Commands(&["report", "annotate", "diff"]);

/// All keys, by section.
pub(crate) static ALL: &[Key] = &[
    key("alias.*", Kind::Text, Readers::All),
    key("annotate.addr2line", Kind::Text, Readers::None),
    key("annotate.demangle", Kind::Flag, ANNOTATE),
    key("annotate.demangle_kernel", Kind::Flag, ANNOTATE),
    key("annotate.disassembler_style", Kind::Text, ANNOTATE),
    key("annotate.disassemblers", Kind::Text, Readers::None),
    key("annotate.hide_src_code", Kind::Flag, ANNOTATED),
    key("annotate.jump_arrows", Kind::Flag, Readers::None),
    key("annotate.objdump", Kind::Text, Readers::None),
    key("annotate.offset_level", Kind::Number, ANNOTATE),
    key("annotate.show_linenr", Kind::Flag, Readers::None),
    key("annotate.show_nr_jumps", Kind::Flag, ANNOTATE),
    key("annotate.show_nr_samples", Kind::Flag, ANNOTATE),
    key("annotate.show_total_period", Kind::Flag, ANNOTATE),
    key("annotate.use_offset", Kind::Flag, ANNOTATE),
    key("auxtrace.dumpdir", Kind::Text, Readers::None),
    key(
        "buildid-cache.debuginfod",
        Kind::Text,
        Readers::Commands(&["buildid-cache"]),
    ),
    key("buildid.dir", Kind::Text, Readers::All),
    fatal(
        "call-graph.dump-size",
        Kind::StackSize,
        "callchain: Incorrect stack dump size (max 65528)",
        Readers::Commands(&["record", "profile", "report", "annotate", "diff"]),
    ),
    fatal(
        "call-graph.order",
        Kind::WordBeginning(&["caller", "callee"]),
        "Invalid callchain order",
        REPORT,
    ),
    fatal(
        "call-graph.print-limit",
        Kind::Number,
        "Invalid callchain print limit",
        REPORT,
    ),
    fatal(
        "call-graph.print-type",
        Kind::WordBeginning(&["graph", "flat", "fractal", "folded"]),
        "Invalid callchain mode",
        REPORT,
    ),
    fatal(
        "call-graph.record-mode",
        Kind::RecordMode,
        "callchain: Unknown --call-graph option value",
        Readers::Commands(&["record", "profile", "report", "annotate", "diff"]),
    ),
    fatal(
        "call-graph.sort-key",
        Kind::WordBeginning(&["function", "address"]),
        "Invalid callchain sort key",
        REPORT,
    ),
    fatal(
        "call-graph.threshold",
        Kind::Decimal,
        "Invalid callchain threshold",
        REPORT,
    ),
    key("colors.*", Kind::Colours, REPORT),
    key("convert.queue-size", Kind::Number, Readers::None),
    key("core.addr2line-disable-warn", Kind::Flag, Readers::None),
    key("core.addr2line-timeout", Kind::Number, Readers::None),
    key("core.proc-map-timeout", Kind::Number, RECORD),
    key("daemon.base", Kind::Text, Readers::None),
    Key {
        name: "diff.compute",
        kind: Kind::Word(&["delta", "delta-abs", "ratio", "wdiff"]),
        bad_value: BadValue::Reported("Invalid compute method"),
        readers: DIFF,
    },
    key("diff.order", Kind::Number, DIFF),
    key("ftrace.*", Kind::Text, Readers::None),
    key("gtk.*", Kind::Flag, Readers::None),
    key("help.*", Kind::Text, Readers::None),
    fatal(
        "hist.percentage",
        Kind::Word(&["relative", "absolute"]),
        "",
        SHOWN,
    ),
    key("intel-pt.all-switch-events", Kind::Flag, RECORD),
    key("intel-pt.cache-divisor", Kind::Number, Readers::None),
    key("intel-pt.max-loops", Kind::Number, Readers::None),
    key("intel-pt.mispred-all", Kind::Flag, DECODED),
    key("itrace.debug-log-buffer-size", Kind::Number, DECODED),
    key("kmem.default", Kind::Text, Readers::None),
    key("man.*", Kind::Text, Readers::None),
    key("pager.*", Kind::Text, Readers::All),
    key(
        "pmu-events.path",
        Kind::Text,
        Readers::Commands(&["record", "profile", "list"]),
    ),
    key("record.aio", Kind::Number, Readers::None),
    fatal(
        "record.build-id",
        Kind::Word(&["cache", "no-cache", "skip", "mmap", "no-mmap"]),
        "",
        RECORD,
    ),
    fatal(
        "record.call-graph",
        Kind::RecordMode,
        "callchain: Unknown --call-graph option value",
        RECORD,
    ),
    key("record.debuginfod", Kind::Text, RECORD),
    key("report.children", Kind::Flag, REPORT),
    key("report.group", Kind::Flag, REPORT),
    key("report.percent-limit", Kind::Text, REPORT),
    fatal(
        "report.queue-size",
        Kind::Number,
        "",
        Readers::Commands(&["report"]),
    ),
    key("report.skip-empty", Kind::Flag, REPORT),
    key("report.sort_order", Kind::Text, REPORT),
    key("samples.context", Kind::Number, Readers::None),
    key("scripts.*", Kind::Text, Readers::None),
    key("stat.*", Kind::Text, Readers::None),
    key("top.*", Kind::Text, Readers::None),
    key("trace.*", Kind::Text, Readers::None),
    key("tui.*", Kind::Flag, REPORT),
    key("ui.show-headers", Kind::Flag, REPORT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_order_and_are_found() {
        let names: Vec<&str> = ALL
            .iter()
            .map(|key| key.name.trim_end_matches('*'))
            .collect();
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(Key::of("alias.rs").map(|key| key.name), Some("alias.*"));
        assert_eq!(
            Key::of("report.children").map(|key| key.name),
            Some("report.children")
        );
        assert!(Key::of("report.child").is_none());
    }

    #[test]
    fn kinds_know_their_values() {
        assert!(Kind::RecordMode.accepts("dwarf,4096") && !Kind::RecordMode.accepts("xx"));
        assert!(Kind::StackSize.accepts("65528") && !Kind::StackSize.accepts("65529"));
        assert!(Kind::WordBeginning(&["caller", "callee"]).accepts("calle"));
        assert_eq!(Kind::Word(&["a", "b", "c"]).to_string(), "a, b or c");
    }
}
