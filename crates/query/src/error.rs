//! Options that a recording, or the machine, cannot follow.

use std::io;
use std::path::PathBuf;

use oxperf_data::DataError;
use thiserror::Error;

/// An option that cannot be followed.
#[derive(Debug, Error)]
pub enum QueryError {
    /// A text is no list of times.
    #[error("Invalid time string")]
    InvalidTime,
    /// Shares of the recorded time are asked for, and the recorder did not note its first and last sample.
    #[error(
        "HINT: no first/last sample time found in perf data: shares of the time are not known.\n\
         Name the times themselves: --time START,STOP"
    )]
    NoSampleTimes,
    /// A text is no part.
    #[error("--part '{0}' is no part such as 2/3, the second of three")]
    InvalidPart(String),
    /// A part is asked for of a recording that comes through a pipe.
    #[error(
        "--part needs a file: what comes through a pipe is read once, and its parts follow from all of it"
    )]
    PartOfStream,
    /// The records that parts follow from cannot be read.
    #[error("the parts of the recording cannot be found: {0}")]
    UnreadableRecords(DataError),
    /// A text is no list of CPUs.
    #[error("Invalid cpu_list: '{0}' is no list such as 0,2-4")]
    InvalidCpus(String),
    /// CPUs are chosen, and no event was recorded with them.
    #[error("File does not contain CPU events. Remove -C option to proceed.")]
    NoCpus,
    /// A text is no list of processes or threads.
    #[error("problems parsing {kind} list: '{text}'")]
    InvalidIds {
        /// `pid` or `tid`.
        kind: &'static str,
        /// The text.
        text: String,
    },
    /// A list of names cannot be read.
    #[error("{path}: {error}")]
    UnreadableNames {
        /// The file, as it was named.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// An event that switches samples on or off is not in the recording.
    #[error(
        "ERROR: {option} event not found ({name})\nHINT:  use 'perf evlist' to see the available event names"
    )]
    NoSuchSwitch {
        /// `switch-on` or `switch-off`.
        option: &'static str,
        /// The event's name.
        name: String,
    },
    /// A file of kernel symbols cannot be read.
    #[error("cannot read kernel symbols from {}: {error}", path.display())]
    UnreadableKernelSymbols {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}
