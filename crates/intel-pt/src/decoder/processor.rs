//! The state of the processor, as far as the trace gives it.

use super::checkpoint::Checkpoint;
use crate::graph::CodeContext;
use crate::item::Mode;
use crate::packet::ModeExec;

/// The processor: what holds now, and what holds from the next address on.
#[derive(Debug)]
pub(super) struct Processor {
    /// Tracing is on (TIP.PGE, TIP.PGD).
    tracing: bool,
    context: CodeContext,
    next_context: CodeContext,
    mode: Mode,
    /// Interrupts are enabled from the next address on.
    interrupts: bool,
}

impl Processor {
    pub(super) fn new() -> Processor {
        Processor {
            tracing: false,
            context: CodeContext::UNKNOWN,
            next_context: CodeContext::UNKNOWN,
            mode: Mode::unknown(),
            interrupts: false,
        }
    }

    /// True while tracing is on.
    #[inline]
    pub(super) fn is_tracing(&self) -> bool {
        self.tracing
    }

    pub(super) fn set_tracing(&mut self, tracing: bool) {
        self.tracing = tracing;
    }

    /// The meaning of code that runs now.
    #[inline]
    pub(super) fn context(&self) -> CodeContext {
        self.context
    }

    /// The meaning of code from the next address on.
    #[inline]
    pub(super) fn next_context(&self) -> CodeContext {
        self.next_context
    }

    /// True if code is read another way, or is another's, from the next address on.
    #[inline]
    pub(super) fn changes_context(&self) -> bool {
        self.next_context != self.context
    }

    /// True if a guest begins or ends at the next address.
    pub(super) fn changes_guest(&self) -> bool {
        self.next_context.guest != self.context.guest
    }

    #[inline]
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn set_in_transaction(&mut self, in_transaction: bool) {
        self.mode.in_transaction = in_transaction;
    }

    /// Marks the next item as one with which a guest begins or ends.
    pub(super) fn set_guest_toggled(&mut self, toggled: bool) {
        self.mode.guest_toggled = toggled;
    }

    /// Sets the mode from the next address on.
    pub(super) fn set_mode(&mut self, mode: ModeExec) {
        if let Some(width) = mode.mode() {
            self.next_context.mode = width;
        }
        self.interrupts = mode.interrupt_flag();
    }

    /// Sets the mode that holds now.
    pub(super) fn set_mode_now(&mut self, mode: ModeExec) {
        self.set_mode(mode);
        self.switch_context();
        self.mode.interrupts_disabled = !self.interrupts;
    }

    /// Sets the owner of the code from the next address on.
    pub(super) fn set_guest(&mut self, guest: bool) {
        self.next_context.guest = guest;
    }

    /// Sets the owner of the code that runs now.
    pub(super) fn set_guest_now(&mut self, guest: bool) {
        self.set_guest(guest);
        self.switch_context();
    }

    /// The next address is reached.
    pub(super) fn switch_context(&mut self) {
        self.context = self.next_context;
        self.mode.width = self.context.mode;
        self.mode.guest = self.context.guest;
        self.mode.guest_toggled = false;
    }

    /// True if interrupts are enabled from the next address on.
    pub(super) fn next_interrupts(&self) -> bool {
        self.interrupts
    }

    /// True if the interrupt flag is another one from the next address on.
    #[inline]
    pub(super) fn changes_interrupts(&self) -> bool {
        self.interrupts == self.mode.interrupts_disabled
    }

    /// Marks the items that follow as those of a new interrupt flag, if it is new and not another code's.
    pub(super) fn begin_interrupt_change(&mut self, is_ours: bool) -> bool {
        self.mode.interrupts_toggled = self.changes_interrupts() && is_ours;
        self.mode.interrupts_toggled
    }

    /// The items of a new interrupt flag are made: it holds.
    pub(super) fn end_interrupt_change(&mut self) {
        if std::mem::take(&mut self.mode.interrupts_toggled) {
            self.mode.interrupts_disabled = !self.interrupts;
        }
    }

    pub(super) fn restore(&mut self, from: &Checkpoint) {
        self.tracing = true;
        self.context = from.context;
        self.next_context = from.context;
        self.mode = from.mode;
        self.interrupts = from.interrupts;
    }
}
