//! The sources that wake a recorder: signals, rings with records, time. A channel on which a user controls a
//! running recorder is one more source.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxperf_sys::{EventFd, PollSet, PollSlot, Readiness};

use crate::interrupts::Interrupts;
use crate::plan::RingKind;

/// The age of a record in a ring at which it is moved, however few there are.
pub(crate) const DRAIN_INTERVAL: Duration = Duration::from_millis(500);

/// The sources, and the time of the next round without any.
#[derive(Debug)]
pub(crate) struct WakeSources {
    poll: PollSet,
    interrupts: Rc<Interrupts>,
    signal_slot: PollSlot,
    rings: Vec<PollSlot>,
    /// Threads that drain, if there are any: readable when one has ended.
    threads_slot: Option<PollSlot>,
    /// The channel for commands, while it is open.
    commands: Option<PollSlot>,
}

impl WakeSources {
    /// Wakes by signals alone.
    pub(crate) fn new(interrupts: Rc<Interrupts>) -> WakeSources {
        let mut poll = PollSet::new();
        let signal_slot = poll.add(&*interrupts);
        WakeSources {
            poll,
            interrupts,
            signal_slot,
            rings: Vec::new(),
            threads_slot: None,
            commands: None,
        }
    }

    /// The signals, for others who wait.
    pub(crate) fn interrupts(&self) -> &Rc<Interrupts> {
        &self.interrupts
    }

    /// Also wakes when the ring that `owner` stands for is half full, and when its tasks are gone. A ring that keeps the
    /// newest records is never full: it wakes in the second case alone.
    pub(crate) fn add_ring(&mut self, owner: &EventFd, kind: RingKind) {
        self.rings.push(match kind {
            RingKind::Forward => self.poll.add(owner),
            RingKind::Backward => self.poll.add_for_end(owner),
        });
    }

    /// Also wakes when the tasks of a ring are gone that somebody else drains.
    pub(crate) fn add_end_of_ring(&mut self, owner: &EventFd) {
        self.rings.push(self.poll.add_for_end(owner));
    }

    /// Also wakes when one of the threads that drain has ended.
    pub(crate) fn add_threads(&mut self, threads: impl AsFd) {
        self.threads_slot = Some(self.poll.add(threads));
    }

    /// Returns whether one of the threads that drain had ended when a source woke.
    pub(crate) fn has_thread_ended(&self) -> bool {
        let slot = self.threads_slot;
        slot.is_some_and(|slot| self.poll.readiness(slot).readable)
    }

    /// Also wakes when the event of `owner` occurs.
    pub(crate) fn add_event(&mut self, owner: &EventFd) {
        self.poll.add(owner);
    }

    /// Also wakes when there are commands.
    pub(crate) fn add_commands(&mut self, commands: impl AsFd) {
        self.commands = Some(self.poll.add(commands));
    }

    /// No longer wakes by commands.
    pub(crate) fn remove_commands(&mut self) {
        if let Some(slot) = self.commands.take() {
            self.poll.remove(slot);
        }
    }

    /// Returns whether there were commands, or the end of them, when a source woke.
    pub(crate) fn has_commands(&self) -> bool {
        let slot = self.commands;
        slot.is_some_and(|slot| self.poll.readiness(slot) != Readiness::default())
    }

    /// No longer wakes by any ring, nor by the threads that drain them.
    pub(crate) fn remove_rings(&mut self) {
        let poll = &mut self.poll;
        let threads = self.threads_slot.take();
        self.rings
            .drain(..)
            .chain(threads)
            .for_each(|slot| poll.remove(slot));
    }

    /// Returns whether any ring can bring something new.
    pub(crate) fn has_rings(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Waits until a source wakes, or records have waited for a while, at most until a moment. Takes the signals, and drops
    /// the rings whose tasks have all exited.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn wait(&mut self, until: Option<Instant>) -> io::Result<()> {
        let until = until.map(|moment| moment.saturating_duration_since(Instant::now()));
        let longest = until.map_or(DRAIN_INTERVAL, |until| until.min(DRAIN_INTERVAL));
        self.poll.wait(Some(longest))?;
        if self.poll.readiness(self.signal_slot).readable {
            self.interrupts.take();
        }
        self.drop_gone_rings();
        Ok(())
    }

    /// Waits for a signal, no longer than `timeout`, and takes it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn wait_for_signal(&mut self, timeout: Duration) -> io::Result<()> {
        self.poll.wait(Some(timeout))?;
        self.interrupts.take();
        Ok(())
    }

    fn drop_gone_rings(&mut self) {
        let poll = &mut self.poll;
        self.rings.retain(|&slot| {
            let state = poll.readiness(slot);
            let gone = state.hung_up || state.failed || state.closed;
            if gone {
                poll.remove(slot);
            }
            !gone
        });
    }
}
