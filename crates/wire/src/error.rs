//! Faults of a record's bytes.

/// A record, attribute or field that does not hold what it says. Offsets count from the start of the decoded bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end before the field does.
    #[error("at byte {offset}: {wanted} bytes wanted, {left} left")]
    Truncated {
        /// Offset of the field.
        offset: usize,
        /// Bytes that it needs.
        wanted: u64,
        /// Bytes that are there.
        left: usize,
    },
    /// A string without its NUL.
    #[error("at byte {offset}: string is not terminated inside its record")]
    UnterminatedString {
        /// Offset of the string.
        offset: usize,
    },
    /// A record that says it is smaller than its header.
    #[error("record size {size} is below the 8 bytes of its header")]
    RecordSize {
        /// The size it says.
        size: u32,
    },
    /// An attribute that says it is smaller than the first ABI's.
    #[error("attribute size {size} is below 64")]
    AttrSize {
        /// The size it says.
        size: u32,
    },
}
