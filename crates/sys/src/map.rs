//! A file's bytes without copying them.

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};
use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;

/// A regular file mapped for reading; an empty file is an empty slice.
///
/// The mapping is private and read-only. One danger remains that no mapping can avoid: when somebody cuts the file
/// short while it is mapped, touching a page beyond its new end kills this process with `SIGBUS`. Programs that
/// replace a file by renaming (perf, linkers, package managers) do no harm; a recording that is being written only
/// grows, and what is mapped is its length at the time of opening.
#[derive(Debug)]
pub struct MappedFile(Option<Mmap>);

impl MappedFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// As [`MappedFile::from_file`], and whatever opening says.
    pub fn open(path: impl AsRef<Path>) -> io::Result<MappedFile> {
        MappedFile::from_file(&File::open(path)?)
    }

    /// Maps an open file from its start to its present end. The file may be closed afterwards.
    ///
    /// # Errors
    /// `InvalidInput` for anything but a regular file (pipes and directories have no length to map); the
    /// kernel's answer otherwise.
    pub fn from_file(file: &File) -> io::Result<MappedFile> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile(None));
        }
        // SAFETY: the mapping is private and read-only, and its bytes are only ever read as plain bytes, for which
        // every value is valid. A concurrent truncation raises SIGBUS, which ends the process and breaks nothing.
        let map = unsafe { MmapOptions::new().map_copy_read_only(file) }?;
        Ok(MappedFile(Some(map)))
    }

    /// Tells the kernel that the bytes will be read from front to back. A hint: failing to take it changes nothing.
    pub fn expect_sequential(&self) {
        if let Some(map) = &self.0 {
            let _ = map.advise(Advice::Sequential);
        }
    }

    /// Gives back the memory of bytes that will hardly be read again; reading them brings them back from the file. A
    /// hint, as [`MappedFile::expect_sequential`].
    pub fn release(&self, bytes: Range<usize>) {
        let inside = bytes.start < bytes.end && bytes.end <= self.len();
        if let Some(map) = self.0.as_ref().filter(|_| inside) {
            // SAFETY: the range lies in the mapping, which is private and read-only: no page of it was ever changed,
            // so that what comes back for a dropped page are the same bytes of the file.
            let _ = unsafe {
                map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.end - bytes.start)
            };
        }
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn maps_bytes_and_emptiness() {
        let directory = std::env::temp_dir().join(format!("oxperf-map-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (full, empty) = (directory.join("full"), directory.join("empty"));
        fs::write(&full, "bytes").unwrap();
        fs::write(&empty, "").unwrap();
        let mapped = MappedFile::open(&full).unwrap();
        mapped.expect_sequential();
        assert_eq!(&*mapped, b"bytes");
        mapped.release(1..4);
        mapped.release(3..9);
        assert_eq!(&*mapped, b"bytes");
        assert_eq!(MappedFile::open(&empty).unwrap().len(), 0);
        assert_eq!(MappedFile::open(&directory).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(MappedFile::open(&full).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
