//! The reason why a text or a section of tracing data cannot be used.

use std::path::PathBuf;

/// Faults of a format text, a tracing-data section or the tracefs directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracepointError {
    /// A format text lacks one of its heading lines.
    #[error("tracepoint format has no valid `{line}` line")]
    Heading {
        /// The heading that is missing or holds no number.
        line: &'static str,
    },
    /// A `field:` line does not say a declaration, an offset, a size and a sign.
    #[error("tracepoint format line {line}: malformed field")]
    Field {
        /// Line number, from 1.
        line: usize,
    },
    /// The section does not begin with the tracing mark.
    #[error("tracing data does not begin with its mark")]
    Magic,
    /// The section is cut, or a length in it points outside.
    #[error("tracing data ends at {available} bytes, but {what} at offset {offset} needs {needed}")]
    Truncated {
        /// The part that was being read.
        what: &'static str,
        /// Offset of its first byte in the section.
        offset: usize,
        /// Number of bytes that it needs there.
        needed: u64,
        /// Number of bytes that the section has.
        available: usize,
    },
    /// A byte of the section has a value without meaning.
    #[error("tracing data offset {offset}: {what} is {value}")]
    Value {
        /// The meaning of the byte.
        what: &'static str,
        /// Offset of its first byte.
        offset: usize,
        /// Its value.
        value: u8,
    },
    /// A label is not where the layout puts it.
    #[error("tracing data offset {offset}: `{label}` expected")]
    Label {
        /// The expected label.
        label: &'static str,
        /// The offset at which it should be.
        offset: usize,
    },
    /// No directory holds the kernel's events.
    #[error("no tracefs at {}: mount it with `mount -t tracefs nodev /sys/kernel/tracing`", .0.display())]
    NoTracefs(PathBuf),
    /// A file of tracefs cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// There is no event of this name.
    #[error("unknown tracepoint {system}:{event}")]
    Unknown {
        /// The event's system.
        system: String,
        /// The event's name.
        event: String,
    },
}
