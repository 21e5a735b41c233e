//! The bytes of a file that was found: mapped, or read into memory.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use oxperf_sys::MappedFile;
use oxperf_sys::files::{is_trusted_owner, open_regular};

use crate::elf::{as_elf, linked};
use crate::error::Rejection;
use crate::packed::unpack;

/// The bytes of a whole file.
#[derive(Debug)]
pub struct Contents {
    bytes: Bytes,
    /// The file that they come from, unless they come from memory.
    version: Option<FileVersion>,
}

#[derive(Debug)]
enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

/// Bytes of a file that is read and not mapped; lists of symbols take some ten megabytes.
const READ_LIMIT: u64 = 1 << 30;

/// A file in one state: whoever writes to it, or puts another in its place, makes another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// The file, by the device that it lies on and its number there.
    pub file: [u64; 2],
    /// Times of the last write to it, and of the last change of anything about it, and when anything about it was
    /// changed, in seconds and nanoseconds.
    pub times: [(i64, i64); 2],
    /// Its bytes.
    pub size: u64,
    /// Whom it belongs to.
    pub owner: u32,
}

impl FileVersion {
    fn of(data: &fs::Metadata) -> FileVersion {
        let times = [
            (data.mtime(), data.mtime_nsec()),
            (data.ctime(), data.ctime_nsec()),
        ];
        FileVersion {
            file: [data.dev(), data.ino()],
            times,
            size: data.len(),
            owner: data.uid(),
        }
    }

    /// The state of an open file.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn of_open(file: &File) -> std::io::Result<FileVersion> {
        file.metadata().map(|data| FileVersion::of(&data))
    }

    /// Returns whether it belongs to root or to who runs this process: nobody else can have written to it.
    pub fn is_ours(&self) -> bool {
        is_trusted_owner(self.owner)
    }
}

impl Contents {
    /// Maps a regular file.
    ///
    /// # Errors
    /// [`Rejection::Unreadable`] and [`Rejection::NotAFile`].
    pub fn open(path: &Path) -> Result<Contents, Rejection> {
        let file = regular(path)?;
        let mapped = MappedFile::from_file(&file, path).map_err(unreadable)?;
        let version = FileVersion::of_open(&file).map_err(unreadable)?;
        Ok(Contents {
            bytes: Bytes::Mapped(mapped),
            version: Some(version),
        })
    }

    /// Reads a file that can't be mapped, such as those below `/proc`, which claim to be empty.
    ///
    /// # Errors
    /// [`Rejection::Unreadable`], [`Rejection::NotAFile`] and [`Rejection::TooLarge`].
    pub fn read(path: &Path) -> Result<Contents, Rejection> {
        let file = regular(path)?;
        let version = FileVersion::of_open(&file).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(READ_LIMIT + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > READ_LIMIT {
            return Err(Rejection::TooLarge(READ_LIMIT));
        }
        Ok(Contents {
            bytes: Bytes::Owned(bytes),
            version: Some(version),
        })
    }

    /// The file that this one holds compressed, as kernel modules are; itself where it is not compressed.
    #[must_use]
    pub fn unpacked(self) -> Contents {
        match unpack(&self) {
            Some(bytes) => self.turned_into(bytes),
            None => self,
        }
    }

    /// A program for Windows as an ELF file, in which everything stands where it was; itself where it is none.
    #[must_use]
    pub fn into_elf(self) -> Contents {
        match as_elf(&self) {
            Some(bytes) => self.turned_into(bytes),
            None => self,
        }
    }

    /// A kernel module's file with the addresses and references that the kernel's loader gives it; itself where it is none.
    #[must_use]
    pub(crate) fn linked(self) -> Contents {
        match linked(&self) {
            Some(bytes) => self.turned_into(bytes),
            None => self,
        }
    }

    /// These bytes in the place of those that they were made from.
    fn turned_into(&self, bytes: Vec<u8>) -> Contents {
        Contents {
            bytes: Bytes::Owned(bytes),
            version: self.version,
        }
    }

    /// Returns whether they stay in a file, and are read from there.
    pub fn is_mapped(&self) -> bool {
        matches!(self.bytes, Bytes::Mapped(_))
    }

    /// The state of the file that they come from, if they come from one.
    pub fn version(&self) -> Option<FileVersion> {
        self.version
    }

    /// Gives back the memory of what was read of a file so far; it comes again from the file when it is read again.
    pub fn release(&self) {
        if let Bytes::Mapped(file) = &self.bytes {
            file.release(0..file.len());
        }
    }

    /// Takes bytes that come from no file, such as an image from memory.
    pub fn from_memory(bytes: Vec<u8>) -> Contents {
        Contents {
            bytes: Bytes::Owned(bytes),
            version: None,
        }
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(file) => file,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// Opens a regular file; what is none is not waited for.
fn regular(path: &Path) -> Result<File, Rejection> {
    open_regular(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => Rejection::NotAFile,
        kind => Rejection::Unreadable(kind),
    })
}

fn unreadable(error: std::io::Error) -> Rejection {
    Rejection::Unreadable(error.kind())
}
