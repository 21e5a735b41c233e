//! Opening events: `perf_event_open(2)` and what can be done with the descriptor it returns.

mod attr;
mod control;
mod description;
mod error;
mod read;
mod request;

pub use control::{Control, ControlScope};
pub use error::OpenError;
pub use read::{CounterRead, CounterValue, ReadError};
pub use request::{EventTask, OpenFlags, OpenRequest};

use crate::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// An open event. Closing it ends the event.
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    /// Takes a descriptor that stands for an event.
    pub(crate) fn from_owned(fd: OwnedFd) -> EventFd {
        EventFd(fd)
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Opens an event; it is closed in programs that this process executes.
///
/// # Errors
/// The kernel's answer, by meaning.
pub fn open_event(request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
    let raw = attr::RawAttr::new(request.attr);
    let group = request.group.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: `raw` is a live `perf_event_attr` of at least `raw.size` bytes; the other arguments are numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw as *const attr::RawAttr,
            request.task.raw(),
            request.raw_cpu(),
            group,
            request.raw_flags(),
        )
    };
    match RawFd::try_from(result) {
        // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(EventFd(unsafe { OwnedFd::from_raw_fd(fd) })),
        _ => Err(OpenError::from(Errno::last())),
    }
}
