//! A fault of a line of notation.

/// A line that could not be understood.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct NotationError {
    /// The line, from 1.
    pub line: usize,
    /// The reason, with the offending word.
    pub reason: String,
}

/// The result of reading a word; the line number is added by whoever knows it.
pub(crate) type Read<T> = Result<T, String>;
