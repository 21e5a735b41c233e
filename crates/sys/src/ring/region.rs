//! A block of mapped memory that is unmapped when dropped.

use crate::Errno;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Shared memory, page aligned and always readable.
#[derive(Debug)]
pub(super) struct Region {
    start: NonNull<u8>,
    length: usize,
}

/// The memory that a region maps.
#[derive(Clone, Copy, Debug)]
pub(super) enum Backing<'fd> {
    /// Memory of an event, from an offset of its descriptor on.
    Event(BorrowedFd<'fd>, usize),
    /// Fresh zeroed memory without a kernel behind it.
    Memory,
}

/// The rights of this process to a region. The kernel takes a ring that cannot be written as one to overwrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    /// Reads and writes.
    ReadWrite,
    /// Reads alone.
    ReadOnly,
}

// SAFETY: a Region owns its mapping and has no thread affinity.
unsafe impl Send for Region {}
// SAFETY: a shared Region hands out nothing but its address and atomic copies of its bytes.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `length` bytes.
    pub(super) fn map(
        backing: Backing<'_>,
        length: usize,
        access: Access,
    ) -> Result<Region, Errno> {
        let protection = match access {
            Access::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
            Access::ReadOnly => libc::PROT_READ,
        };
        let (flags, fd, offset) = match backing {
            Backing::Event(fd, offset) => (libc::MAP_SHARED, fd.as_raw_fd(), offset),
            Backing::Memory => (libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0),
        };
        let offset = libc::off_t::try_from(offset).map_err(|_| Errno(libc::EINVAL))?;
        let anywhere = std::ptr::null_mut();
        // SAFETY: no address is asked for, so no existing mapping can be replaced.
        let start = unsafe { libc::mmap(anywhere, length, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let start = NonNull::new(start.cast()).ok_or(Errno(libc::ENOMEM))?;
        Ok(Region { start, length })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes of the memory.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Appends a copy of the bytes at `range`, as far as the region has them. Others may write them meanwhile: each
    /// byte is read once, and the copy may mix old bytes and new ones.
    pub(super) fn copy_shared(&self, range: Range<usize>, into: &mut Vec<u8>) {
        let range = range.start.min(self.length)..range.end.min(self.length);
        let words_fit = range.start.is_multiple_of(8) && range.len().is_multiple_of(8);
        into.reserve(range.len());
        if words_fit {
            for offset in range.step_by(8) {
                into.extend_from_slice(&self.word_at(offset).to_ne_bytes());
            }
        } else {
            into.extend(range.map(|offset| self.byte_at(offset).load(Ordering::Relaxed)));
        }
    }

    /// The word at an offset, a multiple of 8; 0 beyond the end. Others may write it meanwhile.
    pub(super) fn word_at(&self, offset: usize) -> u64 {
        let is_inside = offset
            .checked_add(8)
            .is_some_and(|end| end <= self.length && offset.is_multiple_of(8));
        if !is_inside {
            return 0;
        }
        // SAFETY: the word lies inside a mapping that lives as long as `self`, and is aligned because the mapping is; it is
        // atomic because others may write it meanwhile.
        let word = unsafe { AtomicU64::from_ptr(self.start.add(offset).cast().as_ptr()) };
        word.load(Ordering::Relaxed)
    }

    /// The byte at an offset below the length. Others may write it meanwhile.
    fn byte_at(&self, offset: usize) -> &AtomicU8 {
        debug_assert!(offset < self.length);
        // SAFETY: callers keep the offset below the length of a mapping that lives as long as `self`.
        unsafe { AtomicU8::from_ptr(self.start.add(offset).as_ptr()) }
    }

    /// Writes `bytes` at `offset`, as far as the region reaches, which is writable: the fake kernel's side. Others may read
    /// them meanwhile.
    pub(super) fn write_shared(&self, offset: usize, bytes: &[u8]) {
        let offset = offset.min(self.length);
        let places = offset..self.length;
        for (place, byte) in places.zip(bytes) {
            self.byte_at(place).store(*byte, Ordering::Relaxed);
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: start and length are those of a mapping that this value owns; no reference outlives it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_inside() {
        let region = Region::map(Backing::Memory, 4096, Access::ReadWrite).unwrap();
        region.write_shared(4090, b"abcdefgh");
        let copy = |range| {
            let mut bytes = Vec::new();
            region.copy_shared(range, &mut bytes);
            bytes
        };
        assert_eq!(copy(4089..4096), b"\0abcdef");
        assert_eq!(copy(4088..9999), b"\0\0abcdef");
        assert_eq!(copy(9000..9999), b"");
        assert_eq!(region.word_at(4088).to_ne_bytes(), *b"\0\0abcdef");
        assert_eq!((region.word_at(4096), region.word_at(1)), (0, 0));
    }
}
