//! What keeps a table from being made.

use std::path::PathBuf;

use oxperf_query::RecordingPart;
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
    /// The folder has samples of this recording.
    #[error(
        "{} has samples of this recording{}: name another folder with -o, or first delete the files of that export: {}",
        path.display(),
        part.map(|part| format!(", its part {part}")).unwrap_or_default(),
        list(files)
    )]
    Present {
        /// The file of samples.
        path: PathBuf,
        /// The part of the recording that it has; `None` if it has all.
        part: Option<RecordingPart>,
        /// The files of that export.
        files: Vec<PathBuf>,
    },
    /// The folder has stacks with numbers of another kind.
    #[error(
        "{} has {stacks} stacks, and these are {own}: their numbers do not go together; name another folder with -o",
        path.display()
    )]
    OtherStacks {
        /// A file of the folder.
        path: PathBuf,
        /// How its stacks are numbered.
        stacks: &'static str,
        /// How the new ones are.
        own: &'static str,
    },
    /// Nobody takes more rows.
    #[error("no more rows are wanted")]
    Stopped,
}

/// Names of files, one behind the other.
fn list(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(" ")
}
