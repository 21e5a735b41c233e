//! What keeps a table from being made.

use std::path::PathBuf;

use thiserror::Error;

use crate::stack_id::StackId;

/// A table that cannot be made.
#[derive(Debug, Error)]
pub enum ColumnsError {
    /// Two stacks with different frames have one number.
    #[error(
        "two different stacks have the number {}: export the recordings into different folders",
        id.0
    )]
    StackClash {
        /// The number.
        id: StackId,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The folder has this recording.
    #[error(
        "{} holds the recording {file} already: name another folder with -o, or remove its rows first",
        path.display()
    )]
    Present {
        /// The file that lists it.
        path: PathBuf,
        /// The recording.
        file: String,
    },
    /// Nobody takes more rows.
    #[error("no more rows are wanted")]
    Stopped,
}
