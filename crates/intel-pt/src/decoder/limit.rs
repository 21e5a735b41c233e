//! Limits at which decoding pauses.

use super::follower::Follower;
use crate::code::CodeSource;
use crate::item::Tsc;

/// The limits, and the pause at one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    time: Option<Tsc>,
    /// A place in the trace.
    stop: Option<u64>,
    /// Decoding paused for the time, and goes on now.
    paused: bool,
}

impl Limits {
    pub(super) fn time(&self) -> Option<Tsc> {
        self.time
    }

    pub(super) fn set_time(&mut self, time: Option<Tsc>) {
        self.time = time;
    }

    pub(super) fn set_stop(&mut self, stop: Option<u64>) {
        self.stop = stop;
    }

    /// True if decoding paused for the time before. It goes on now.
    pub(super) fn take_pause(&mut self) -> bool {
        std::mem::take(&mut self.paused)
    }

    /// True if decoding pauses before the next packet.
    #[inline]
    pub(super) fn are_reached(
        &mut self,
        follower: &mut Follower<'_>,
        code: &impl CodeSource,
    ) -> bool {
        (self.time.is_some() || self.stop.is_some()) && self.is_due(follower, code)
    }

    fn is_due(&mut self, follower: &mut Follower<'_>, code: &impl CodeSource) -> bool {
        let trace = follower.emitter().trace();
        let offset = trace.packets().offset();
        if self.stop.is_some_and(|stop| offset >= stop) {
            return true;
        }
        let now = trace.clock().time();
        let due = self.time.is_some_and(|limit| now >= Some(limit));
        self.paused = due && follower.can_wait(code);
        self.paused
    }
}
