//! Waiting for many descriptors at once.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// The flag of an opening that never waits, and whose reads and writes do not either: `O_NONBLOCK`.
pub const NON_BLOCKING: i32 = libc::O_NONBLOCK;

/// A set of descriptors to wait on. It does not own them: a descriptor closed by its owner shows as
/// [`Readiness::closed`] and should be removed.
#[derive(Debug, Default)]
pub struct PollSet {
    entries: Vec<libc::pollfd>,
}

/// The place of a descriptor in its [`PollSet`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct PollSlot(usize);

/// The findings of the last wait about a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// There is something to read; for an event: its ring reached the wake-up mark.
    pub readable: bool,
    /// It takes bytes.
    pub writable: bool,
    /// The other side is gone; for an event: its task has exited.
    pub hung_up: bool,
    /// An error is pending.
    pub failed: bool,
    /// The descriptor is not open.
    pub closed: bool,
}

/// An entry with this descriptor is passed over by the kernel.
const REMOVED: libc::c_int = -1;

impl PollSet {
    /// An empty set.
    pub fn new() -> PollSet {
        PollSet::default()
    }

    /// Adds a descriptor to wait for reading.
    pub fn add(&mut self, fd: impl AsFd) -> PollSlot {
        self.add_for(fd, libc::POLLIN)
    }

    /// Adds a descriptor to wait for writing.
    pub fn add_writer(&mut self, fd: impl AsFd) -> PollSlot {
        self.add_for(fd, libc::POLLOUT)
    }

    /// Adds a descriptor to wait until its other side is gone, whatever there is to read.
    pub fn add_for_end(&mut self, fd: impl AsFd) -> PollSlot {
        self.add_for(fd, 0)
    }

    fn add_for(&mut self, fd: impl AsFd, events: libc::c_short) -> PollSlot {
        let fd = fd.as_fd().as_raw_fd();
        self.entries.push(libc::pollfd {
            fd,
            events,
            revents: 0,
        });
        PollSlot(self.entries.len() - 1)
    }

    /// Stops waiting on a descriptor. The other slots stay valid.
    pub fn remove(&mut self, slot: PollSlot) {
        if let Some(entry) = self.entries.get_mut(slot.0) {
            entry.fd = REMOVED;
            entry.revents = 0;
        }
    }

    /// Returns whether nothing is left to wait on.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| entry.fd == REMOVED)
    }

    /// Waits until a descriptor has news, `timeout` has passed (`None`: for ever) or a signal was handled, and
    /// returns the number of descriptors with news: 0 in the last two cases.
    ///
    /// # Errors
    /// The kernel's answer, `EINTR` excepted.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        let length = self.entries.len() as libc::nfds_t;
        // SAFETY: the pointer and length are those of a live, exclusively borrowed vector of pollfd.
        let found = unsafe { libc::poll(self.entries.as_mut_ptr(), length, milliseconds(timeout)) };
        if let Ok(found) = usize::try_from(found) {
            return Ok(found);
        }
        let error = io::Error::last_os_error();
        self.entries.iter_mut().for_each(|entry| entry.revents = 0);
        if error.kind() == io::ErrorKind::Interrupted {
            Ok(0)
        } else {
            Err(error)
        }
    }

    /// The findings of the last wait about a descriptor; nothing for a removed one.
    pub fn readiness(&self, slot: PollSlot) -> Readiness {
        let found = self.entries.get(slot.0).map_or(0, |entry| entry.revents);
        Readiness {
            readable: found & libc::POLLIN != 0,
            writable: found & libc::POLLOUT != 0,
            hung_up: found & libc::POLLHUP != 0,
            failed: found & libc::POLLERR != 0,
            closed: found & libc::POLLNVAL != 0,
        }
    }
}

/// Whole milliseconds, rounded up so that a short wait does not become a busy loop.
fn milliseconds(timeout: Option<Duration>) -> libc::c_int {
    const FOR_EVER: libc::c_int = -1;
    timeout.map_or(FOR_EVER, |timeout| {
        let rounded = timeout.as_nanos().div_ceil(1_000_000);
        libc::c_int::try_from(rounded).unwrap_or(libc::c_int::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write, pipe};

    #[test]
    fn readable_quiet_and_gone_differ() {
        let (quiet, quiet_end) = pipe().unwrap();
        let (ready, mut ready_end) = pipe().unwrap();
        let (gone, gone_end) = pipe().unwrap();
        ready_end.write_all(b"x").unwrap();
        drop(gone_end);
        let mut set = PollSet::new();
        let slots = [set.add(&quiet), set.add(&ready), set.add(&gone)];
        assert_eq!(set.wait(None).unwrap(), 2);
        assert_eq!(set.readiness(slots[0]), Readiness::default());
        assert!(set.readiness(slots[1]).readable);
        assert!(set.readiness(slots[2]).hung_up);
        set.remove(slots[1]);
        set.remove(slots[2]);
        assert_eq!(set.wait(Some(Duration::from_micros(1))).unwrap(), 0);
        assert!(!set.is_empty());
        let writer = set.add_writer(&quiet_end);
        set.wait(None).unwrap();
        assert!(set.readiness(writer).writable);
    }

    #[test]
    fn a_descriptor_watched_for_its_end_is_not_readable() {
        let (reading, mut writing) = pipe().unwrap();
        writing.write_all(b"x").unwrap();
        let mut set = PollSet::new();
        let slot = set.add_for_end(&reading);
        assert_eq!(set.wait(Some(Duration::ZERO)).unwrap(), 0);
        drop(writing);
        assert_eq!(set.wait(None).unwrap(), 1);
        let found = set.readiness(slot);
        assert!(found.hung_up && !found.readable);
    }

    #[test]
    fn timeouts_round_up() {
        assert_eq!(milliseconds(None), -1);
        assert_eq!(milliseconds(Some(Duration::from_nanos(1))), 1);
        assert_eq!(milliseconds(Some(Duration::MAX)), i32::MAX);
        assert_eq!(milliseconds(Some(Duration::ZERO)), 0);
    }
}
