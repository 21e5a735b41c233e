//! The standard output of this process handed to another process that shows it, such as a pager.

use crate::errno::check;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// The signals that a user ends a program with.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The process that shows the output, for the handler; 0 for none.
static READER: AtomicI32 = AtomicI32::new(0);

/// Standard output, and standard error where that is a terminal, go elsewhere until this is dropped.
///
/// A signal that would end this process meanwhile ends it only after the reader, so that the terminal is never used by
/// the reader and a shell at once.
#[derive(Debug)]
pub struct Redirection {
    output: OwnedFd,
    error: Option<OwnedFd>,
}

impl Redirection {
    /// Sends the streams to `to`, which the process `reader`, a child of this one, reads.
    ///
    /// # Errors
    /// The kernel's answer; the streams are as they were.
    pub fn begin(to: BorrowedFd<'_>, reader: u32) -> io::Result<Redirection> {
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        let error = match io::stderr().is_terminal() {
            true => Some(io::stderr().as_fd().try_clone_to_owned()?),
            false => None,
        };
        let redirection = Redirection { output, error };
        READER.store(i32::try_from(reader).unwrap_or(0), Ordering::Release);
        for signal in ENDING {
            // SAFETY: the handler is async-signal-safe and has the type that the kernel calls.
            unsafe { libc::signal(signal, end_after_reader as *const () as libc::sighandler_t) };
        }
        replace(libc::STDOUT_FILENO, to)?;
        if redirection.error.is_some() {
            replace(libc::STDERR_FILENO, to)?;
        }
        Ok(redirection)
    }
}

impl Drop for Redirection {
    fn drop(&mut self) {
        // Where this fails nothing more can be shown.
        let _ = replace(libc::STDOUT_FILENO, self.output.as_fd());
        if let Some(error) = &self.error {
            let _ = replace(libc::STDERR_FILENO, error.as_fd());
        }
    }
}

/// Gives a descriptor's number another file.
fn replace(number: RawFd, with: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes two numbers; the streams that are replaced belong to the whole process.
    check(unsafe { libc::dup2(with.as_raw_fd(), number) })?;
    Ok(())
}

/// Runs in signal context: the reader sees the end of its input and is waited for; then the signal does what it usually
/// does.
extern "C" fn end_after_reader(number: libc::c_int) {
    // SAFETY: all calls are async-signal-safe and take numbers, or pointers to what lives as long as the program.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        libc::dup2(nothing, libc::STDOUT_FILENO);
        libc::dup2(nothing, libc::STDERR_FILENO);
        let reader = READER.load(Ordering::Acquire);
        while reader > 0
            && libc::waitpid(reader, ptr::null_mut(), 0) < 0
            && *libc::__errno_location() == libc::EINTR
        {}
        libc::signal(number, libc::SIG_DFL);
        libc::raise(number);
    }
}
