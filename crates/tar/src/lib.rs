//! tar archives to and from bytes.
//!
//! For whoever packs files for another machine, or unpacks what came from one: [`ArchiveWriter`] writes what any `tar` reads,
//! [`ArchiveReader`] reads plain files, folders and links one after another. Nothing here touches a file, and no name or link
//! of an archive is handed out that leads above the folder it is unpacked in: such an archive is refused.
//!
//! ```
//! use std::io::Read;
//! use oxperf_tar::{EntryKind, ArchiveReader, ArchiveWriter};
//!
//! let mut writer = ArchiveWriter::new(Vec::new());
//! writer.file("folder/x", 5, 1_700_000_000, &mut &b"hello"[..])?;
//! writer.link("y", "folder/x")?;
//! let bytes = writer.finish()?;
//!
//! let mut reader = ArchiveReader::new(&bytes[..]);
//! let entry = reader.next_entry()?.unwrap();
//! assert_eq!((entry.path.to_str(), entry.kind), (Some("folder/x"), EntryKind::File { size: 5 }));
//! let mut text = String::new();
//! reader.contents().read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//! assert_eq!(reader.next_entry()?.unwrap().kind, EntryKind::Link { target: "folder/x".into() });
//! assert!(reader.next_entry()?.is_none());
//! # Ok::<(), oxperf_tar::TarError>(())
//! ```

mod header;
mod read;
mod write;

use std::path::PathBuf;

pub use read::{ArchiveReader, EntryContents};
pub use write::ArchiveWriter;

/// An entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// Its path: plain names below the folder that is unpacked in.
    pub path: PathBuf,
    /// Its kind.
    pub kind: EntryKind,
    /// Time of its last change, in seconds since 1970.
    pub modified: u64,
}

/// The kind of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file with so many bytes.
    File {
        /// The number.
        size: u64,
    },
    /// A folder.
    Folder,
    /// A symbolic link that stays below the folder that is unpacked in.
    Link {
        /// The target, as it stands.
        target: PathBuf,
    },
}

/// Faults of an archive.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The header at this place is none.
    #[error("no tar header at byte {offset}: {why}")]
    Header {
        /// The offset.
        offset: u64,
        /// The expectation that it fails.
        why: &'static str,
    },
    /// A name or link that leads out of the folder that is unpacked in.
    #[error("'{name}' leads out of the archive")]
    Outside {
        /// The name.
        name: String,
    },
    /// A name that is too long for the format.
    #[error("the name '{name}' is too long")]
    TooLong {
        /// The name.
        name: String,
    },
}
