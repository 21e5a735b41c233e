//! Signals that say that an event overflowed, and the blocking mode of its descriptor.

use crate::EventFd;
use crate::errno::check;
use oxperf_abi::{Pid, Tid};
use std::io;
use std::os::fd::AsRawFd;

/// The receiver of an event's signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalReceiver {
    /// One thread. An event that counts its own thread is best heard there.
    Thread(Tid),
    /// Any thread of a process.
    Process(Pid),
    /// Every process of a group, named by its leader.
    ProcessGroup(Pid),
}

/// A signal at each overflow that wakes somebody: `F_SETOWN_EX`, `F_SETSIG` and `O_ASYNC` of `fcntl(2)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notification {
    /// The signal's number. A real-time signal is queued and says which descriptor it is about; take the number from
    /// [`OverflowSignals::number`](crate::OverflowSignals::number).
    pub signal: i32,
    /// Who gets it.
    pub receiver: SignalReceiver,
}

/// `struct f_owner_ex`.
#[repr(C)]
struct Owner {
    kind: libc::c_int,
    id: libc::pid_t,
}

impl SignalReceiver {
    fn owner(self) -> Owner {
        /// `F_OWNER_TID`, `F_OWNER_PID` and `F_OWNER_PGRP`.
        const KINDS: [libc::c_int; 3] = [0, 1, 2];
        let [thread, process, group] = KINDS;
        let (kind, id) = match self {
            SignalReceiver::Thread(tid) => (thread, tid.0),
            SignalReceiver::Process(pid) => (process, pid.0),
            SignalReceiver::ProcessGroup(pid) => (group, pid.0),
        };
        Owner { kind, id }
    }
}

impl EventFd {
    /// Has the kernel send a signal at each overflow, or none any more.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` for no signal's number, `ESRCH` for no receiver.
    pub(crate) fn notify(&self, notification: Option<Notification>) -> io::Result<()> {
        if let Some(Notification { signal, receiver }) = notification {
            const F_SETOWN_EX: libc::c_int = 15;
            const F_SETSIG: libc::c_int = 10;
            let owner = receiver.owner();
            // SAFETY: the kernel reads a live struct of this layout.
            check(unsafe { libc::fcntl(self.as_raw_fd(), F_SETOWN_EX, &raw const owner) })?;
            // SAFETY: the argument is a number.
            check(unsafe { libc::fcntl(self.as_raw_fd(), F_SETSIG, signal) })?;
        }
        self.set_status(libc::O_ASYNC, notification.is_some())
    }

    /// Makes the descriptor a blocking one or not. Reads of counters never wait either way; what waits is `poll(2)`.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn set_blocking(&self, blocking: bool) -> io::Result<()> {
        self.set_status(libc::O_NONBLOCK, !blocking)
    }

    /// Sets or clears a flag among those of the open file.
    fn set_status(&self, flag: libc::c_int, on: bool) -> io::Result<()> {
        // SAFETY: the call takes no argument.
        let flags = check(unsafe { libc::fcntl(self.as_raw_fd(), libc::F_GETFL) })?;
        let wanted = if on { flags | flag } else { flags & !flag };
        // SAFETY: the argument is a number.
        check(unsafe { libc::fcntl(self.as_raw_fd(), libc::F_SETFL, wanted) }).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CounterSpec, EventTask, FakeCall, FakeKernel};

    #[test]
    fn receivers_have_the_kernels_numbers() {
        let owners = [
            SignalReceiver::Thread(Tid(5)),
            SignalReceiver::Process(Pid(6)),
            SignalReceiver::ProcessGroup(Pid(7)),
        ]
        .map(|receiver| receiver.owner());
        let numbers = owners.map(|owner| (owner.kind, owner.id));
        assert_eq!(numbers, [(0, 5), (1, 6), (2, 7)]);
    }

    #[test]
    fn the_fake_kernel_remembers_who_is_told() {
        let kernel = FakeKernel::new();
        let clock = CounterSpec::task_clock();
        let counter = clock.open(&kernel, EventTask::Caller).unwrap();
        let notification = Some(Notification {
            signal: 40,
            receiver: SignalReceiver::Thread(Tid(5)),
        });
        counter.notify(notification).unwrap();
        counter.set_blocking(false).unwrap();
        counter.notify(None).unwrap();
        let calls = [
            FakeCall::Notify(0, notification),
            FakeCall::SetBlocking(0, false),
            FakeCall::Notify(0, None),
        ];
        assert_eq!(kernel.calls(), calls);
    }
}
