//! Events that wait for the FUP packet that names their instruction.

use crate::packet::{ControlFlowEvent, ModeExec, ModeTsx, Mwait, PowerEntry, Trigger};

/// The events so far; each kind waits at most once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) control_flow: Option<ControlFlowEvent>,
    pub(crate) mode: Option<ModeExec>,
    pub(crate) transaction: Option<ModeTsx>,
    pub(crate) write: Option<u64>,
    pub(crate) wait: Option<Mwait>,
    pub(crate) power_entry: Option<PowerEntry>,
    pub(crate) stop: bool,
    pub(crate) block: bool,
    pub(crate) trigger: Option<Trigger>,
}

impl Bound {
    /// True if control leaves at the address of the FUP, so that a TIP packet follows: it does, unless the FUP only names
    /// the instruction of an event.
    pub(crate) fn leaves(&self) -> bool {
        let named = self.write.is_some()
            || self.stop
            || self.block
            || self.trigger.is_some()
            || self.mode.is_some();
        let named = named || self.control_flow.is_some_and(ControlFlowEvent::ip);
        let begins =
            self.transaction.is_some_and(|mode| !mode.aborted()) && self.control_flow.is_none();
        !named && !begins
    }

    /// Takes what the FUP names. An event without an address of its own goes on waiting for the transfer of control.
    pub(crate) fn take_named(&mut self) -> Bound {
        let waiting = self.control_flow.filter(|event| !event.ip());
        let mut named = std::mem::take(self);
        named.control_flow = named.control_flow.filter(|event| event.ip());
        self.control_flow = waiting;
        named
    }

    /// True if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Bound::default()
    }
}
