//! Archives as `tar` reads them.

use std::io::{self, Read, Write};

use crate::TarError;
use crate::header::{BLOCK, FILE, Header, LINK, LONG_NAME, LONG_TARGET, NAME};

/// Longest name that is written.
const NAME_LIMIT: usize = 4096;

/// Writes an archive entry by entry.
#[derive(Debug)]
pub struct ArchiveWriter<W> {
    out: W,
}

impl<W: Write> ArchiveWriter<W> {
    /// Begins an archive.
    pub fn new(out: W) -> ArchiveWriter<W> {
        ArchiveWriter { out }
    }

    /// Writes a file of `size` bytes.
    ///
    /// # Errors
    /// Writing fails, or `contents` ends before so many bytes.
    pub fn file(
        &mut self,
        name: &str,
        size: u64,
        modified: u64,
        contents: &mut dyn Read,
    ) -> Result<(), TarError> {
        self.header(FILE, name, size, modified, "")?;
        let copied = io::copy(&mut contents.take(size), &mut self.out)?;
        if copied != size {
            return Err(
                io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter").into(),
            );
        }
        self.pad(size)
    }

    /// Writes a symbolic link.
    ///
    /// # Errors
    /// Writing fails.
    pub fn link(&mut self, name: &str, target: &str) -> Result<(), TarError> {
        self.header(LINK, name, 0, 0, target)
    }

    /// Ends the archive.
    ///
    /// # Errors
    /// Writing fails.
    pub fn finish(mut self) -> Result<W, TarError> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn header(
        &mut self,
        kind: u8,
        name: &str,
        size: u64,
        modified: u64,
        target: &str,
    ) -> Result<(), TarError> {
        for (long, text) in [(LONG_NAME, name), (LONG_TARGET, target)] {
            if text.len() > NAME_LIMIT {
                return Err(TarError::TooLong {
                    name: text.to_owned(),
                });
            }
            if text.len() > NAME {
                self.long(long, text)?;
            }
        }
        let header = Header {
            name: name.into(),
            kind,
            size,
            modified,
            target: target.into(),
        };
        Ok(self.out.write_all(&header.encode())?)
    }

    /// A name that does not fit in a header stands before it, as contents.
    fn long(&mut self, kind: u8, text: &str) -> Result<(), TarError> {
        let size = text.len() as u64 + 1;
        let name = b"././@LongLink".to_vec();
        let header = Header {
            name,
            kind,
            size,
            modified: 0,
            target: Vec::new(),
        };
        self.out.write_all(&header.encode())?;
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(&[0])?;
        self.pad(size)
    }

    fn pad(&mut self, size: u64) -> Result<(), TarError> {
        let rest = (size % BLOCK as u64) as usize;
        let padding = if rest == 0 { 0 } else { BLOCK - rest };
        Ok(self.out.write_all(&[0; BLOCK][..padding])?)
    }
}
