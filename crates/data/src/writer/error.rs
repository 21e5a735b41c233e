//! Errors of writing, with the part that is safe.

use std::{fmt, io};

use oxperf_abi::FileOffset;

/// A part of a file as the writer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilePart {
    /// Header, ids and attributes, before any data.
    Front,
    /// The header, rewritten.
    Header,
    /// Records.
    Records,
    /// The features behind the data.
    Features,
}

impl fmt::Display for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FilePart::Front => "the beginning of the file",
            FilePart::Header => "the file header",
            FilePart::Records => "records",
            FilePart::Features => "the features at the end of the file",
        })
    }
}

/// A write that the output refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {part}: {written} of {size} bytes at {:#x} were taken; {safe} bytes of records can be read", offset.0)]
pub struct WriteError {
    /// The part that was to be written.
    pub part: FilePart,
    /// The offset.
    pub offset: FileOffset,
    /// Number of bytes.
    pub size: u64,
    /// Number of them that the output took.
    pub written: u64,
    /// Bytes of records that the header on disk now names: what any reader gets from the file as it is.
    pub safe: u64,
    /// The reason.
    pub source: io::Error,
}

/// A write that ended early.
#[derive(Debug)]
pub struct Failed {
    /// Bytes taken before.
    pub written: usize,
    /// The reason.
    pub source: io::Error,
}
