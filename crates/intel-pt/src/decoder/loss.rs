//! Where the trace is broken or packets were dropped: what is not true any more.

use super::{Decoder, Phase};
use crate::code::CodeSource;
use crate::item::ErrorKind;
use crate::state::Bound;

impl Decoder<'_> {
    /// Bytes that are no packet.
    pub(super) fn on_bad_packet(&mut self, code: &impl CodeSource) {
        if self.deferred.take().is_some() {
            self.walk_to_deferred(code);
        }
        self.mode.in_transaction = false;
        self.clock.untie();
        self.tell_error(ErrorKind::BadPacket);
    }

    pub(super) fn on_overflow(&mut self) {
        self.mode.in_transaction = false;
        // The time of an overflow is told, not guessed.
        self.clock.changed_at = Some(self.instructions);
        self.tell_error(ErrorKind::Overflow);
        self.lost_ip = 0;
        self.enabled = false;
        self.node = None;
        self.psb = None;
        self.leaving = None;
        self.deferred = None;
        self.bound = Bound::default();
        self.overflowed = true;
        self.phase = Phase::Follow;
    }

    pub(super) fn on_trace_stop(&mut self) {
        self.enabled = false;
        self.samplers.interrupt();
        self.mode.in_transaction = false;
        self.clock.untie();
    }

    /// The flow of control cannot be followed from here.
    pub(super) fn lose_way(&mut self, phase: Phase) {
        if phase == Phase::FindPsb {
            self.enabled = false;
            self.samplers.interrupt();
            self.stack.clear();
            self.overflowed = false;
        }
        self.node = None;
        self.lost_ip = 0;
        self.last_ip = None;
        self.deferred = None;
        self.leaving = None;
        self.split = None;
        self.resumed = None;
        self.switch_context();
        self.psb = None;
        self.bound = Bound::default();
        self.phase = phase;
    }
}
