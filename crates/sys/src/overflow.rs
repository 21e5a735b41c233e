//! Waiting for the signals of events that overflow ([`Notification`](crate::Notification)).
//!
//! No handler runs: the signal is blocked, so that the kernel queues it, and read from a descriptor that can be polled.

use crate::EventFd;
use crate::errno::check;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// The meaning of a signal about an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverflowKind {
    /// Records may be read, and the event goes on (`POLL_IN`).
    Records,
    /// The event was stopped: its last overflow of [`Control::Refresh`](crate::Control::Refresh) came, or its task ended
    /// (`POLL_HUP`).
    Stopped,
    /// Signals were lost, as more were queued than this user may have; which event they were about is unknown.
    Missed,
    /// A reason that this crate does not know.
    Other(i32),
}

/// A signal that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overflow {
    /// The reason.
    pub kind: OverflowKind,
    descriptor: RawFd,
}

impl Overflow {
    /// Returns whether the signal is about this event.
    pub fn is_of(&self, event: &EventFd) -> bool {
        self.kind != OverflowKind::Missed && self.descriptor == event.as_raw_fd()
    }
}

/// Signals about events, for the thread that made this; it stays there. Threads and programs that are started meanwhile have the
/// signal blocked, too. Poll it through [`AsFd`].
#[derive(Debug)]
pub struct OverflowSignals {
    number: libc::c_int,
    signals: File,
    before: SignalMask,
    /// Masks belong to threads.
    _thread: PhantomData<*const ()>,
}

impl OverflowSignals {
    /// Blocks the `offset`-th real-time signal in this thread, and `SIGIO`, which the kernel sends where it cannot queue
    /// more. Threads may use the same one; within a thread each needs its own.
    ///
    /// # Errors
    /// `EINVAL` when there is no such signal; otherwise the kernel's answer.
    pub fn block(offset: u8) -> io::Result<OverflowSignals> {
        let number = libc::SIGRTMIN() + libc::c_int::from(offset);
        if number > libc::SIGRTMAX() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let set = signal_set(&[number, libc::SIGIO]);
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        // SAFETY: the set is live and initialized; no descriptor is reused.
        let fd = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
        // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
        let signals = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        Ok(OverflowSignals {
            number,
            signals,
            before: SignalMask::block(&set)?,
            _thread: PhantomData,
        })
    }

    /// The signal's number, for a [`Notification`](crate::Notification).
    pub fn number(&self) -> i32 {
        self.number
    }

    /// The signals that arrived since the last call, in their order. Does not wait.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn take(&self) -> io::Result<Vec<Overflow>> {
        let mut arrived = Vec::new();
        while let Some(signal) = self.next()? {
            arrived.push(self.overflow(&signal));
        }
        Ok(arrived)
    }

    fn next(&self) -> io::Result<Option<libc::signalfd_siginfo>> {
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        match (&self.signals).read(&mut bytes) {
            // SAFETY: the bytes are those of the struct, all of whose fields are numbers.
            Ok(_) => Ok(Some(unsafe { ptr::read_unaligned(bytes.as_ptr().cast()) })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn overflow(&self, signal: &libc::signalfd_siginfo) -> Overflow {
        /// Values of `si_code` for signals of descriptors.
        const POLL_IN: i32 = 1;
        const POLL_HUP: i32 = 6;
        let kind = match signal.ssi_code {
            _ if signal.ssi_signo != self.number as u32 => OverflowKind::Missed,
            POLL_IN => OverflowKind::Records,
            POLL_HUP => OverflowKind::Stopped,
            other => OverflowKind::Other(other),
        };
        Overflow {
            kind,
            descriptor: signal.ssi_fd,
        }
    }
}

impl AsFd for OverflowSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }
}

impl Drop for OverflowSignals {
    fn drop(&mut self) {
        // A signal that is left would end the process when it is let through.
        let _ = self.take();
        self.before.restore();
    }
}

/// The mask of this thread before signals were blocked.
struct SignalMask(libc::sigset_t);

impl SignalMask {
    fn block(set: &libc::sigset_t) -> io::Result<SignalMask> {
        let mut before = signal_set(&[]);
        // SAFETY: both sets are live and initialized.
        match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set, &raw mut before) } {
            0 => Ok(SignalMask(before)),
            number => Err(io::Error::from_raw_os_error(number)),
        }
    }

    fn restore(&self) {
        // SAFETY: the set is one that the kernel gave.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

impl std::fmt::Debug for SignalMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignalMask")
    }
}

fn signal_set(numbers: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call initializes the whole set.
    let mut set = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        set.assume_init()
    };
    for &number in numbers {
        // SAFETY: the set is live and initialized; the numbers are those of signals.
        unsafe { libc::sigaddset(&raw mut set, number) };
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PollSet;
    use std::time::Duration;

    #[test]
    fn signals_wait_for_their_reader_and_the_mask_is_restored() {
        let watched = OverflowSignals::block(3).unwrap();
        // SAFETY: the signal is blocked in this thread, to which alone it is sent.
        unsafe { libc::pthread_kill(libc::pthread_self(), watched.number()) };
        let mut set = PollSet::new();
        let slot = set.add(&watched);
        set.wait(Some(Duration::from_secs(5))).unwrap();
        assert!(set.readiness(slot).readable);
        let arrived = watched.take().unwrap();
        assert_eq!(arrived.len(), 1);
        assert!(
            matches!(arrived[0].kind, OverflowKind::Other(_)),
            "not about an event"
        );
        assert!(watched.take().unwrap().is_empty());
        drop(watched);
        let mut now = signal_set(&[]);
        // SAFETY: the set is live and initialized.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &raw mut now) };
        // SAFETY: as above.
        let is_blocked = unsafe { libc::sigismember(&raw const now, libc::SIGRTMIN() + 3) };
        assert_eq!(is_blocked, 0);
    }

    #[test]
    fn there_are_only_so_many_signals() {
        assert!(OverflowSignals::block(200).is_err());
    }
}
