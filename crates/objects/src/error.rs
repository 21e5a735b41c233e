//! Faults of a binary, and reasons why a place did not give it.

use std::io;

use oxperf_abi::BuildId;
use oxperf_http::HttpError;

/// The reason why bytes are no ELF file that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElfError {
    /// The first four bytes are not `\x7fELF`.
    #[error("not an ELF file")]
    Magic,
    /// A word size that does not exist.
    #[error("unknown ELF class {0}")]
    Class(u8),
    /// Headers that lie outside the file or contradict each other.
    #[error("damaged ELF headers: {0}")]
    Headers(#[from] object::read::Error),
}

/// The system's error, in its own words where those are better known than ours.
fn said(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        kind => kind.to_string(),
    }
}

/// The reason why a place that was tried did not give the wanted file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The system would not open or map it.
    #[error("{}", said(*.0))]
    Unreadable(io::ErrorKind),
    /// A directory, a device, a pipe.
    #[error("not a regular file")]
    NotAFile,
    /// Larger than such files are.
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    /// The code that a program wrote of itself belongs to none who may have: root, the user, the owner of that
    /// process.
    #[error(
        "it belongs to user {owner}, not to you, root, or who runs that process (-f believes it)"
    )]
    ForeignOwner {
        /// The user's id.
        owner: u32,
    },
    /// The recorded path, or a link on its way, climbs out of the given root.
    #[error("the path leaves its root")]
    OutsideRoot,
    /// Its build id is not the recorded one: another version of the file.
    #[error("build id {found} differs from the recorded one")]
    BuildIdDiffers {
        /// The id the file has.
        found: BuildId,
    },
    /// The recording has a build id, the file has none.
    #[error("the file has no build id")]
    NoBuildId,
    /// The recording has no build id, and without one this place proves nothing.
    #[error("no build id was recorded")]
    NothingToCompare,
    /// The checksum in the debug link is not this file's.
    #[error("checksum {found:#010x} differs from the debug link's")]
    ChecksumDiffers {
        /// CRC-32 of the file.
        found: u32,
    },
    /// Not an ELF file that can be read.
    #[error("{0}")]
    Elf(#[from] ElfError),
    /// It could not be fetched from a server.
    #[error("{0}")]
    NotFetched(#[from] FetchError),
    /// A debug file without the symbol table it was opened for.
    #[error("no symbol table")]
    NoSymbols,
    /// A debug file without the debug information it was opened for.
    #[error("no debug information")]
    NoDebugInfo,
}

/// The reason why a file could not be fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// No server has it.
    #[error("no server has it")]
    NotThere,
    /// The server did not answer as it should.
    #[error("{0}")]
    Server(HttpError),
    /// The answer is no ELF file, or has another build id.
    #[error("the server sent something else")]
    SomethingElse,
    /// The file could not be kept.
    #[error("cannot write to the cache: {0}")]
    Cache(io::ErrorKind),
}

impl FetchError {
    /// Returns whether other files of this server need not be asked for.
    pub(crate) fn is_of_the_server(&self) -> bool {
        matches!(self, FetchError::Server(error) if error.is_of_the_server())
    }
}

impl From<HttpError> for FetchError {
    fn from(error: HttpError) -> FetchError {
        match error {
            HttpError::Output(kind) => FetchError::Cache(kind),
            other => FetchError::Server(other),
        }
    }
}
