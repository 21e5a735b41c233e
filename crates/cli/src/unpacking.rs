//! Archives that are read, held to limits: what `archive --unpack` and every command that reads a bundle go through. A few
//! kilobytes can claim to hold more than any disk.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

/// Bytes that an archive may hold.
const TOTAL: u64 = 64 << 30;
/// Bytes that an archive may hold whatever its size.
const SMALL: u64 = 64 << 20;
/// The limit beyond that, as a multiple of the archive's own size. Lists of symbols shrink to a tenth.
const RATIO: u64 = 200;
/// Files and folders in it.
const ENTRIES: u64 = 100_000;

/// The bytes that were taken out of an archive, counted in all readers of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    packed: Rc<Cell<u64>>,
    unpacked: Rc<Cell<u64>>,
    entries: Rc<Cell<u64>>,
}

impl Limits {
    /// The bytes of the archive's file, counted.
    pub(crate) fn packed(&self, file: File) -> impl Read + use<> {
        Counted {
            inner: file,
            count: Rc::clone(&self.packed),
        }
    }

    /// The bytes that come out of its decompression; they end with an error where they are too many.
    pub(crate) fn unpacked<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Limited {
            inner,
            limits: self.clone(),
        }
    }

    /// Counts an entry.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn entry(&self) -> io::Result<()> {
        self.entries.set(self.entries.get() + 1);
        if self.entries.get() > ENTRIES {
            return Err(too_much(format!("it holds more than {ENTRIES} files")));
        }
        Ok(())
    }

    fn take(&self, count: usize) -> io::Result<()> {
        let all = self.unpacked.get() + count as u64;
        self.unpacked.set(all);
        if all > TOTAL {
            return Err(too_much(format!("it holds more than {} GB", TOTAL >> 30)));
        }
        if all > SMALL.saturating_add(self.packed.get().saturating_mul(RATIO)) {
            return Err(too_much(format!(
                "it holds more than {RATIO} times its own size"
            )));
        }
        Ok(())
    }
}

fn too_much(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

struct Limited<R> {
    inner: R,
    limits: Limits,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.limits.take(read)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_no_more_than_its_size_allows() {
        let limits = Limits::default();
        let zeros = io::repeat(0).take(SMALL + 1000);
        let read = io::copy(&mut limits.unpacked(zeros), &mut io::sink());
        assert_eq!(
            read.unwrap_err().to_string(),
            "it holds more than 200 times its own size"
        );
        let limits = Limits::default();
        limits.packed.set(5);
        let zeros = io::repeat(0).take(SMALL + 1000);
        assert_eq!(
            io::copy(&mut limits.unpacked(zeros), &mut io::sink()).unwrap(),
            SMALL + 1000
        );
        let entries = (0..=ENTRIES)
            .map(|_| limits.entry())
            .filter(Result::is_err)
            .count();
        assert_eq!(entries, 1);
    }
}
