//! Descriptors of a fake kernel's events: they can be polled, become ready when a ring wants its reader, and hang up when
//! the task is gone.

use crate::errno::check;
use crate::{EventFd, PollSet};
use oxperf_abi::ReadFormat;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The other end of an event's descriptor. Dropped, the event hangs up.
#[derive(Debug)]
pub(super) struct FarEnd(OwnedFd);

/// Both ends, for an event whose ring wakes somebody.
#[derive(Debug)]
pub(super) struct Bell {
    near: File,
    far: File,
}

/// A quiet descriptor: the reading end of a pipe.
pub(super) fn quiet(format: ReadFormat) -> io::Result<(EventFd, FarEnd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two descriptors into a live array.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
    // SAFETY: the kernel just returned these descriptors, so nobody else owns them.
    let [near, far] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    Ok((EventFd::from_owned(near, format), FarEnd(far)))
}

impl Bell {
    /// The bell of an event; `None` once its task is gone.
    pub(super) fn of(event: &EventFd, far: Option<&FarEnd>) -> Option<Bell> {
        Some(Bell {
            near: event.as_fd().try_clone_to_owned().ok()?.into(),
            far: far?.0.try_clone().ok()?.into(),
        })
    }

    /// Makes the event readable, once.
    pub(super) fn ring(&self) {
        if !self.is_readable() {
            // A pipe that is empty takes a byte.
            let _ = (&self.far).write(&[1]);
        }
    }

    /// Makes the event quiet.
    pub(super) fn quiet(&self) {
        // A pipe that is empty has nothing to take.
        let _ = (&self.near).read(&mut [0; 8]);
    }

    fn is_readable(&self) -> bool {
        let mut set = PollSet::new();
        let slot = set.add(&self.near);
        set.wait(Some(Duration::ZERO)).is_ok() && set.readiness(slot).readable
    }
}
