//! A page of code made at run time, and the mapping that marks its log.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use crate::WorkloadError;

/// Bytes of a mapping; the kernel rounds up where its pages are larger.
const PAGE: usize = 4096;

/// A function for a kind of processor.
#[derive(Clone, Copy)]
pub(crate) struct MadeFunction {
    /// Instructions of a function without arguments that returns 90.
    pub(crate) code: &'static [u8],
    /// The processor, as ELF files number it.
    pub(crate) machine: u32,
}

/// The function for this processor.
#[cfg(target_arch = "x86_64")]
pub(crate) const MADE_FUNCTION: Option<MadeFunction> = Some(MadeFunction {
    code: &[0xb8, 0x5a, 0, 0, 0, 0xc3],
    machine: 62,
});
/// The function for this processor.
#[cfg(target_arch = "aarch64")]
pub(crate) const MADE_FUNCTION: Option<MadeFunction> = Some(MadeFunction {
    code: &[0x40, 0x0b, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6],
    machine: 183,
});
/// The function for this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const MADE_FUNCTION: Option<MadeFunction> = None;

/// A page with a function in it.
pub(crate) struct CodePage(*mut libc::c_void);

impl CodePage {
    /// Puts a function of [`MADE_FUNCTION`]'s kind into a page of its own. The page is writable while it is filled, and
    /// code afterwards.
    pub(crate) fn new(code: &'static [u8]) -> Result<CodePage, WorkloadError> {
        assert!(code.len() <= PAGE, "one page holds the function");
        // SAFETY: a new mapping that nothing else has.
        let page = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if page == libc::MAP_FAILED {
            return Err(refused("map memory for code"));
        }
        let page = CodePage(page);
        // SAFETY: the page is writable, its own, and at least as long as the code.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), page.0.cast(), code.len()) };
        // SAFETY: the whole mapping, which nothing writes to from here on.
        if unsafe { libc::mprotect(page.0, PAGE, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
            return Err(refused("make code of memory"));
        }
        Ok(page)
    }

    /// The function's address.
    pub(crate) fn address(&self) -> u64 {
        self.0 as u64
    }

    /// Calls the function.
    pub(crate) fn call(&self) -> u32 {
        // SAFETY: the page begins with a function of this type for this processor, and lives as long as `self`.
        let function: extern "C" fn() -> u32 = unsafe { std::mem::transmute(self.0) };
        function()
    }
}

impl Drop for CodePage {
    fn drop(&mut self) {
        // SAFETY: a mapping of this length that nobody else has.
        unsafe { libc::munmap(self.0, PAGE) };
    }
}

/// A mapping of a log of code as code, which a recording shows.
pub(crate) struct LogMark(*mut libc::c_void);

impl LogMark {
    /// Maps the beginning of the log.
    pub(crate) fn new(log: &File) -> Result<LogMark, WorkloadError> {
        // SAFETY: a new mapping, never read from.
        let mark = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_EXEC,
                libc::MAP_PRIVATE,
                log.as_raw_fd(),
                0,
            )
        };
        if mark == libc::MAP_FAILED {
            return Err(refused("map the log of the code"));
        }
        Ok(LogMark(mark))
    }
}

impl Drop for LogMark {
    fn drop(&mut self) {
        // SAFETY: a mapping of this length that nobody else has.
        unsafe { libc::munmap(self.0, PAGE) };
    }
}

fn refused(action: &'static str) -> WorkloadError {
    WorkloadError::system(action)(io::Error::last_os_error())
}
