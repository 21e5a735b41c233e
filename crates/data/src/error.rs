//! The reason why a file cannot be read.

use oxperf_abi::FileOffset;
use oxperf_wire::WireError;

use crate::FeatureId;

/// The reason why a file, or a part that was asked for, cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// Nothing is there.
    #[error("the file is empty")]
    Empty,
    /// The first eight bytes are not those of any kind of perf.data.
    #[error("not a perf.data file: it begins with {magic:02x?}")]
    NotPerfData {
        /// The first bytes, zero filled when there are fewer.
        magic: [u8; 8],
    },
    /// The file ends inside its header.
    #[error("the file header is cut: {expected} bytes expected, {found} found")]
    HeaderCut {
        /// Bytes that the header has.
        expected: u64,
        /// Bytes that the file has.
        found: u64,
    },
    /// The records of a stream can be taken once, and were.
    #[error("the records of a stream can be read only once")]
    Stream,
    /// A stream cannot be read.
    #[error("the stream cannot be read: {error}")]
    StreamBroken {
        /// The system's error.
        error: std::io::ErrorKind,
    },
    /// A recording in the form of a file came as a stream.
    #[error("a perf.data file that comes through a pipe")]
    FileInStream,
    /// The records are in further files of a directory.
    #[error("the records are in the files of a directory")]
    Directory,
    /// The records are compressed in a way that is not known here.
    #[error("the records are compressed by an unknown method, {method}")]
    CompressionMethod {
        /// The stated method.
        method: u32,
    },
    /// The records are compressed.
    #[error("the records are compressed")]
    Compressed,
    /// The file ends before its first sample.
    #[error(
        "the file is cut, and no sample is left: {part} at {:#x}: {expected} bytes expected, the file has {found}",
        offset.0
    )]
    NoSampleLeft {
        /// The first part that is cut.
        part: &'static str,
        /// Offset of its first byte.
        offset: FileOffset,
        /// Its stated size in bytes.
        expected: u64,
        /// Bytes that the file has of it.
        found: u64,
    },
    /// A feature's bytes lie outside of the file.
    #[error("feature {feature} at {:#x}: {expected} bytes expected, the file has {found}", offset.0)]
    FeatureCut {
        /// The feature.
        feature: FeatureId,
        /// The offset at which it should stand.
        offset: FileOffset,
        /// Its stated size in bytes.
        expected: u64,
        /// Bytes that the file has of it.
        found: u64,
    },
    /// A feature's bytes cannot be decoded.
    #[error("feature {feature}")]
    Feature {
        /// The feature.
        feature: FeatureId,
        /// The fault.
        source: FeatureFault,
    },
}

/// A fault inside a feature. Positions count from the feature's first byte.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureFault {
    /// A field cannot be read.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A value makes the rest unreadable.
    #[error("{what} is {found}")]
    Value {
        /// The value's name.
        what: &'static str,
        /// The value.
        found: u64,
    },
}
