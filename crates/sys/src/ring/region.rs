//! A block of mapped memory that is unmapped when dropped.

use crate::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Readable and writable shared memory, page aligned.
#[derive(Debug)]
pub(super) struct Region {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: a Region owns its mapping and has no thread affinity; it hands out nothing but its address.
unsafe impl Send for Region {}

impl Region {
    /// Maps `length` bytes of `fd`, or fresh zeroed memory without one.
    pub(super) fn map(fd: Option<BorrowedFd<'_>>, length: usize) -> Result<Region, Errno> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let anonymous = if fd.is_some() { 0 } else { libc::MAP_ANONYMOUS };
        let raw = fd.map_or(-1, |fd| fd.as_raw_fd());
        // SAFETY: no address is asked for, so no existing mapping can be replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                protection,
                libc::MAP_SHARED | anonymous,
                raw,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let start = NonNull::new(start.cast()).ok_or(Errno(libc::ENOMEM))?;
        Ok(Region { start, length })
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: start and length are those of a mapping that this value owns; no reference outlives it.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
