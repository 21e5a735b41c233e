//! Damage of a recording that could be passed over.

mod list;

use std::fmt;

use oxperf_abi::FileOffset;

pub use list::DamageList;

/// One broken stretch of a recording. The reader goes on after it where it can.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Damage {
    /// The header is that of a recording that goes on: the recorder was killed, or could not write. Everything up to
    /// the features is taken, or to the end of the file.
    NotFinished {
        /// Offset of the first record.
        offset: FileOffset,
        /// Bytes found.
        found: u64,
    },
    /// The header says wrongly where the data are; they were looked for.
    DataMisplaced {
        /// The offset that the header states.
        stated: FileOffset,
        /// The offset at which the first records were found.
        found: FileOffset,
    },
    /// A part of the file ends after the file does; what there is of it is taken.
    PartCut {
        /// The part.
        part: &'static str,
        /// Offset of the part.
        offset: FileOffset,
        /// Its stated size in bytes.
        expected: u64,
        /// Bytes that the file has of it.
        found: u64,
    },
    /// A part of the file cannot be what the header says, and is left out.
    PartUnusable {
        /// The part.
        part: &'static str,
        /// The offset at which it should begin.
        offset: FileOffset,
        /// Its stated size in bytes.
        size: u64,
    },
    /// The list of the events cannot be used, and they were found elsewhere.
    EventsFromElsewhere {
        /// The offset at which the list should stand, or does.
        offset: FileOffset,
        /// Number of events that were found.
        found: u64,
        /// The part that they come from.
        from: &'static str,
    },
    /// An attribute's own size does not fit its entry.
    AttrSize {
        /// Offset of the attribute.
        offset: FileOffset,
        /// Bytes that the entry has for it.
        expected: u64,
        /// The size that it states.
        found: u64,
    },
    /// A stretch of the data holds no records that follow one another; the next ones begin behind it.
    Gap {
        /// Its first byte.
        from: FileOffset,
        /// The first byte behind it.
        to: FileOffset,
    },
    /// A stretch of what was compressed holds no records that follow one another.
    GapInside {
        /// The compressed record in which it begins.
        offset: FileOffset,
        /// Its length in decompressed bytes.
        bytes: u64,
    },
    /// A record goes on after the end of the data.
    RecordCut {
        /// Offset of the record.
        offset: FileOffset,
        /// The size that it states, with what follows it outside of it.
        expected: u64,
        /// Bytes left.
        found: u64,
    },
    /// Compressed records that could not be decompressed: the first is broken, or something is missing before it, and
    /// the others go on where it ends.
    Compressed {
        /// Offset of the first of them.
        offset: FileOffset,
        /// Their number.
        records: u64,
        /// Compressed bytes in them.
        bytes: u64,
    },
    /// Compressed records that were not decompressed: the first would hold more than a recorder writes, and the others
    /// go on where it ends. What came out before the limit was taken.
    Inflated {
        /// Offset of the first of them.
        offset: FileOffset,
        /// Their number.
        records: u64,
        /// Compressed bytes in them.
        bytes: u64,
        /// Decompressed bytes that were allowed: of one record, or of all up to this one.
        limit: u64,
    },
    /// A stream could not be read any further.
    StreamBroken {
        /// The offset up to which it was read.
        offset: FileOffset,
        /// The system's error.
        error: std::io::ErrorKind,
    },
}

impl Damage {
    /// Offset of its first byte.
    pub fn offset(&self) -> FileOffset {
        match self {
            Damage::DataMisplaced { stated: offset, .. }
            | Damage::Gap { from: offset, .. }
            | Damage::NotFinished { offset, .. }
            | Damage::PartCut { offset, .. }
            | Damage::PartUnusable { offset, .. }
            | Damage::EventsFromElsewhere { offset, .. }
            | Damage::AttrSize { offset, .. }
            | Damage::GapInside { offset, .. }
            | Damage::RecordCut { offset, .. }
            | Damage::Compressed { offset, .. }
            | Damage::Inflated { offset, .. }
            | Damage::StreamBroken { offset, .. } => *offset,
        }
    }

    /// A word for its kind that does not change, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Damage::NotFinished { .. } => "not-closed",
            Damage::DataMisplaced { .. } => "data-misplaced",
            Damage::PartCut { .. } => "part-cut",
            Damage::PartUnusable { .. } => "part-unusable",
            Damage::EventsFromElsewhere { .. } => "events-from-elsewhere",
            Damage::AttrSize { .. } => "attribute-size",
            Damage::Gap { .. } => "gap",
            Damage::GapInside { .. } => "gap-in-compressed",
            Damage::RecordCut { .. } => "record-cut",
            Damage::Compressed { .. } => "not-decompressed",
            Damage::Inflated { .. } => "inflated",
            Damage::StreamBroken { .. } => "stream-broken",
        }
    }

    /// Bytes of the recording's data that are lost with it, as far as they can be counted.
    pub fn lost_bytes(&self) -> u64 {
        match self {
            Damage::Gap { from, to } => to.0.saturating_sub(from.0),
            Damage::GapInside { bytes, .. }
            | Damage::Compressed { bytes, .. }
            | Damage::Inflated { bytes, .. } => *bytes,
            Damage::RecordCut { found, .. } => *found,
            _ => 0,
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::NotFinished { offset, found } => {
                let offset = offset.0;
                write!(
                    f,
                    "the recorder did not finish: {found} bytes of data at {offset:#x} are read, what it had not written is lost"
                )
            }
            Damage::DataMisplaced { stated, found } => {
                let (stated, found) = (stated.0, found.0);
                write!(
                    f,
                    "no records at {stated:#x}, where the header says that the data are; found at {found:#x}"
                )
            }
            Damage::PartCut {
                part,
                offset,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{part} at {:#x}: {expected} bytes expected, the file has {found}",
                    offset.0
                )
            }
            Damage::PartUnusable { part, offset, size } => {
                write!(
                    f,
                    "{part} cannot be {size} bytes at {:#x}, as the header says: left out",
                    offset.0
                )
            }
            Damage::EventsFromElsewhere {
                offset,
                found,
                from,
            } => {
                let offset = offset.0;
                write!(
                    f,
                    "the list of events at {offset:#x} cannot be read; {found} are taken from {from}"
                )
            }
            Damage::AttrSize {
                offset,
                expected,
                found,
            } => {
                write!(
                    f,
                    "attribute at {:#x}: states {found} bytes, its entry has {expected}",
                    offset.0
                )
            }
            Damage::Gap { from, to } => {
                let bytes = self.lost_bytes();
                write!(
                    f,
                    "no records from {:#x} to {:#x}: {bytes} bytes of data skipped",
                    from.0, to.0
                )
            }
            Damage::GapInside { offset, bytes } => {
                let offset = offset.0;
                write!(
                    f,
                    "no records in what was compressed at {offset:#x}: {bytes} decompressed bytes skipped"
                )
            }
            Damage::RecordCut {
                offset,
                expected,
                found,
            } => {
                write!(
                    f,
                    "record at {:#x}: {expected} bytes expected, {found} are left",
                    offset.0
                )
            }
            Damage::Compressed {
                offset,
                records,
                bytes,
            } => {
                let offset = offset.0;
                write!(
                    f,
                    "{records} compressed records from {offset:#x} on cannot be decompressed: {bytes} bytes lost"
                )
            }
            Damage::Inflated {
                offset,
                records,
                bytes,
                limit,
            } => {
                let offset = offset.0;
                write!(
                    f,
                    "{records} compressed records from {offset:#x} on skipped: they hold more than {limit} bytes, which no recorder writes: {bytes} bytes lost"
                )
            }
            Damage::StreamBroken { offset, error } => {
                write!(
                    f,
                    "the stream cannot be read after {:#x} bytes: {error}",
                    offset.0
                )
            }
        }
    }
}
