//! The bytes of a file that was found: mapped, or read into memory.

use std::fs::{self, File};
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use oxperf_sys::MappedFile;

use crate::elf::{as_elf, linked};
use crate::error::Rejection;
use crate::packed::unpack;

/// The bytes of a whole file.
#[derive(Debug)]
pub struct Contents(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(MappedFile, FileVersion),
    Owned(Vec<u8>),
}

/// A file in one state: whoever writes to it, or puts another in its place, makes another version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// The file, by the device that it lies on and its number there.
    pub file: [u64; 2],
    /// When it was written to, and when anything about it was changed, in seconds and nanoseconds.
    pub times: [(i64, i64); 2],
}

impl FileVersion {
    fn of(data: &fs::Metadata) -> FileVersion {
        let times = [(data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec())];
        FileVersion { file: [data.dev(), data.ino()], times }
    }
}

impl Contents {
    /// Maps a regular file.
    ///
    /// # Errors
    /// [`Rejection::Unreadable`] and [`Rejection::NotAFile`].
    pub fn open(path: &Path) -> Result<Contents, Rejection> {
        refuse_special(path)?;
        let file = File::open(path).map_err(unreadable)?;
        let mapped = MappedFile::from_file(&file).map_err(unreadable)?;
        let version = FileVersion::of(&file.metadata().map_err(unreadable)?);
        Ok(Contents(Bytes::Mapped(mapped, version)))
    }

    /// Reads a file that can't be mapped, such as those below `/proc`, which claim to be empty.
    ///
    /// # Errors
    /// [`Rejection::Unreadable`] and [`Rejection::NotAFile`].
    pub fn read(path: &Path) -> Result<Contents, Rejection> {
        refuse_special(path)?;
        fs::read(path).map(Contents::from_memory).map_err(unreadable)
    }

    /// The file that this one holds compressed, as kernel modules are; itself where it is not compressed.
    #[must_use]
    pub fn unpacked(self) -> Contents {
        match unpack(&self) {
            Some(bytes) => Contents::from_memory(bytes),
            None => self,
        }
    }

    /// A program for Windows as an ELF file, in which everything stands where it was; itself where it is none.
    #[must_use]
    pub fn into_elf(self) -> Contents {
        match as_elf(&self) {
            Some(bytes) => Contents::from_memory(bytes),
            None => self,
        }
    }

    /// A kernel module's file with the addresses and references that the kernel's loader gives it; itself where it is none.
    #[must_use]
    pub(crate) fn linked(self) -> Contents {
        match linked(&self) {
            Some(bytes) => Contents::from_memory(bytes),
            None => self,
        }
    }

    /// Whether they stay in a file, and are read from there.
    pub fn is_mapped(&self) -> bool {
        self.version().is_some()
    }

    /// Which state of which file they are, if they stay in one.
    pub fn version(&self) -> Option<FileVersion> {
        match self.0 {
            Bytes::Mapped(_, version) => Some(version),
            Bytes::Owned(_) => None,
        }
    }

    /// Gives back the memory of what was read of a file so far; it comes again from the file when it is read again.
    pub fn release(&self) {
        if let Bytes::Mapped(file, _) = &self.0 {
            file.release(0..file.len());
        }
    }

    /// Takes bytes that come from no file, such as an image from memory.
    pub fn from_memory(bytes: Vec<u8>) -> Contents {
        Contents(Bytes::Owned(bytes))
    }
}

impl Deref for Contents {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(file, _) => file,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

/// Looks before opening: opening a pipe would wait for a writer.
fn refuse_special(path: &Path) -> Result<(), Rejection> {
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_file() { Ok(()) } else { Err(Rejection::NotAFile) }
}

fn unreadable(error: std::io::Error) -> Rejection {
    Rejection::Unreadable(error.kind())
}
