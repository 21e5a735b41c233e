//! Opening events: `perf_event_open(2)` and what can be done with the descriptor it returns.

mod attr;
#[cfg(test)]
mod bpf_tests;
mod control;
mod description;
mod error;
mod estimate;
mod notify;
mod read;
mod request;

pub use control::{BpfProgramId, Control, ControlScope};
pub use error::OpenError;
pub use estimate::Estimate;
pub use notify::{Notification, SignalReceiver};
pub use read::{CounterRead, CounterValue, ReadError};
pub use request::{EventTask, OpenArguments, OpenFlags, OpenRequest};

use crate::Errno;
use oxperf_abi::ReadFormat;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// An open event. Closing it ends the event.
#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
    read_format: ReadFormat,
}

impl EventFd {
    /// Takes a descriptor that stands for an event with this format of reads.
    pub(crate) fn from_owned(fd: OwnedFd, read_format: ReadFormat) -> EventFd {
        EventFd { fd, read_format }
    }

    /// The fields of a read, as the event was opened with them.
    pub fn read_format(&self) -> ReadFormat {
        self.read_format
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for EventFd {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// So many signals may come before an event is open. A probe's place that something else uses gives the same answer as a
/// signal, for good.
const SIGNALS: usize = 10;

/// Opens an event; it is closed in programs that this process executes.
///
/// # Errors
/// The kernel's answer, by meaning.
pub(crate) fn open_event(request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
    let mut answer = open_once(request);
    for _ in 0..SIGNALS {
        if !matches!(answer, Err(OpenError::Interrupted)) {
            break;
        }
        answer = open_once(request);
    }
    answer
}

fn open_once(request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
    let mut raw = attr::RawAttr::new(request.attr);
    let group = request.group.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: `raw` is a live `perf_event_attr` of at least `raw.size` bytes, and mutable because a kernel that finds it
    // too new writes the size there that it knows; the other arguments are numbers.
    let result = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw mut raw,
            request.task.raw(),
            request.raw_cpu(),
            group,
            request.raw_flags(),
        )
    };
    match RawFd::try_from(result) {
        // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(EventFd::from_owned(
            unsafe { OwnedFd::from_raw_fd(fd) },
            request.attr.read_format,
        )),
        _ => Err(OpenError::from(Errno::last())),
    }
}
