//! Faults of folders, files and archives of tables.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A source of tables that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// A folder or file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// Nothing here says which tables belong to which CPU.
    #[error("{}: no tables of events: a mapfile.csv is expected here or in a folder below, or Arm's JSON files", path.display())]
    NoTables {
        /// The folder or archive.
        path: PathBuf,
    },
    /// An archive that cannot be read.
    #[error("{}: {why}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// The fault.
        why: String,
    },
}

/// A place in a file of tables where something else was expected. What it stands in is left out, the rest is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None` for a fault of the whole file.
    pub line: Option<usize>,
    /// The expectation: `':'`, `a number as UMask, not 'x'`.
    pub expected: String,
}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": expected {}", self.expected)
    }
}
