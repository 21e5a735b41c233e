//! The signals that a recorder hears, for everything in it that waits for something.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use oxperf_sys::{Signal, SignalError, SignalWatch};

/// The time that the recorder waits for others once it was asked to end: for the workload to end after `SIGTERM`, for the
/// reader of its output to take something.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// Signals that follow each other more closely are one wish: `timeout` sends its signal to the process and its group.
const ONE_WISH: Duration = Duration::from_millis(200);

/// The signals that ask a recorder to end.
const ENDING: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Hangup];

/// The signals so far.
#[derive(Debug)]
pub(crate) struct Interrupts {
    watch: SignalWatch,
    first: Cell<Option<(Signal, Instant)>>,
    repeated: Cell<bool>,
    child: Cell<bool>,
    switch: Cell<bool>,
}

impl Interrupts {
    /// Catches signals from now on.
    ///
    /// # Errors
    /// See [`SignalWatch::install`].
    pub(crate) fn watch() -> Result<Interrupts, SignalError> {
        Interrupts::watch_also(&[])
    }

    /// As [`Interrupts::watch`], and the signal that asks for another file, which otherwise ends a process.
    ///
    /// # Errors
    /// See [`SignalWatch::install`].
    pub(crate) fn watch_with_switch() -> Result<Interrupts, SignalError> {
        Interrupts::watch_also(&[Signal::User2])
    }

    fn watch_also(others: &[Signal]) -> Result<Interrupts, SignalError> {
        // A write at the limit of file sizes has to fail and not to end the recorder.
        let always = [Signal::Child, Signal::FileSize];
        let watch = SignalWatch::install(&[&ENDING[..], &always, others].concat())?;
        Ok(Interrupts {
            watch,
            first: Cell::default(),
            repeated: Cell::default(),
            child: Cell::default(),
            switch: Cell::default(),
        })
    }

    /// Takes what arrived; call it when [`AsFd`] is readable.
    pub(crate) fn take(&self) {
        let arrived = self.watch.take();
        self.child
            .set(self.child.get() || arrived.contains(Signal::Child));
        self.switch
            .set(self.switch.get() || arrived.contains(Signal::User2));
        let Some(signal) = ENDING.into_iter().find(|signal| arrived.contains(*signal)) else {
            return;
        };
        match self.first.get() {
            None => self.first.set(Some((signal, Instant::now()))),
            Some((_, at)) if at.elapsed() > ONE_WISH => self.repeated.set(true),
            Some(_) => {}
        }
    }

    /// The signal that asked the recorder to end, if any.
    pub(crate) fn signal(&self) -> Option<Signal> {
        self.first.get().map(|(signal, _)| signal)
    }

    /// Returns whether the recorder was asked to end again: nobody is waited for any more.
    pub(crate) fn is_repeated(&self) -> bool {
        self.repeated.get()
    }

    /// Returns whether a child ended since the last call.
    pub(crate) fn take_child(&self) -> bool {
        self.child.replace(false)
    }

    /// Returns whether somebody asked for another file since the last call.
    pub(crate) fn take_switch(&self) -> bool {
        self.switch.replace(false)
    }

    /// The time to wait for somebody who has done nothing since `since`: for ever while nobody asked the recorder
    /// to end.
    pub(crate) fn patience(&self, since: Instant) -> Option<Duration> {
        let (_, asked) = self.first.get()?;
        let left = (since.max(asked) + GRACE).saturating_duration_since(Instant::now());
        Some(if self.is_repeated() {
            Duration::ZERO
        } else {
            left
        })
    }
}

impl AsFd for Interrupts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.as_fd()
    }
}
