//! What is broken in a file and could be passed over.

use std::fmt;

use oxperf_abi::FileOffset;

/// One broken stretch of a file. The reader goes on after it where it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Damage {
    /// The header says that there are no data: the recorder was killed. Everything to the end of the file is taken.
    DataSizeZero {
        /// Where the data begin.
        offset: FileOffset,
        /// Bytes found up to the end of the file.
        found: u64,
    },
    /// A part of the file ends after the file does; what there is of it is taken.
    PartCut {
        /// Which part.
        part: &'static str,
        /// Where the part begins.
        offset: FileOffset,
        /// Its stated size in bytes.
        expected: u64,
        /// Bytes that the file has of it.
        found: u64,
    },
    /// An attribute's own size does not fit its entry.
    AttrSize {
        /// Where the attribute stands.
        offset: FileOffset,
        /// Bytes that the entry has for it.
        expected: u64,
        /// The size that it states.
        found: u64,
    },
    /// A record's size is smaller than its header; nothing after it can be framed.
    RecordSize {
        /// Where the record stands.
        offset: FileOffset,
        /// The smallest possible size in bytes.
        expected: u64,
        /// The size that it states.
        found: u64,
    },
    /// A record goes on after the end of the data.
    RecordCut {
        /// Where the record stands.
        offset: FileOffset,
        /// The size that it states, with what follows it outside of it.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// A compressed record does not hold what can be decompressed, or more than a recorder writes. Nothing after it
    /// in the same compressed stream can be read.
    Compressed {
        /// Where the record stands.
        offset: FileOffset,
    },
    /// A stream could not be read any further.
    StreamBroken {
        /// How far it was read.
        offset: FileOffset,
        /// What the system said.
        error: std::io::ErrorKind,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::DataSizeZero { offset, found } => {
                write!(
                    f,
                    "the data at {offset:#x} were not closed properly; {found} bytes are read up to the end of the file",
                    offset = offset.0
                )
            }
            Damage::PartCut { part, offset, expected, found } => {
                write!(f, "{part} at {:#x}: {expected} bytes expected, the file has {found}", offset.0)
            }
            Damage::AttrSize { offset, expected, found } => {
                write!(f, "attribute at {:#x}: states {found} bytes, its entry has {expected}", offset.0)
            }
            Damage::RecordSize { offset, expected, found } => {
                write!(f, "record at {:#x}: states {found} bytes, the least is {expected}", offset.0)
            }
            Damage::RecordCut { offset, expected, found } => {
                write!(f, "record at {:#x}: {expected} bytes expected, {found} are left", offset.0)
            }
            Damage::Compressed { offset } => {
                write!(f, "compressed record at {:#x} and those after it cannot be decompressed", offset.0)
            }
            Damage::StreamBroken { offset, error } => {
                write!(f, "the stream cannot be read after {:#x} bytes: {error}", offset.0)
            }
        }
    }
}
