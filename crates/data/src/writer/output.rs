//! Outputs of a writer: anything that takes bytes at a position.

use std::fs::File;
use std::io::{self, ErrorKind};

use super::error::Failed;

/// A place to write at positions.
pub trait Output {
    /// Writes some of `bytes` at `offset` from the start and says how many.
    ///
    /// # Errors
    /// As [`std::io::Write::write`].
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// Not all could be written; says how much was.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> Result<(), Failed> {
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match self.write_at(rest, offset + written as u64) {
                Ok(0) => {
                    return Err(Failed {
                        written,
                        source: ErrorKind::WriteZero.into(),
                    });
                }
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(Failed { written, source }),
            }
        }
        Ok(())
    }
}

impl Output for File {
    #[cfg(unix)]
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, bytes, offset)
    }
}

impl Output for Vec<u8> {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        let end = start
            .checked_add(bytes.len())
            .ok_or(ErrorKind::FileTooLarge)?;
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }
}

impl<O: Output + ?Sized> Output for &mut O {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        (**self).write_at(bytes, offset)
    }
}
