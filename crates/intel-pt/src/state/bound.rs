//! Events that wait for the FUP packet that names their instruction.

use crate::packet::{ControlFlowEvent, ModeExec, ModeTsx, Mwait, PowerEntry};

/// What is known of the events so far; each kind waits at most once.
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
}

impl Bound {
    /// Whether a TIP packet follows the FUP: it does, unless the FUP only names the instruction of an event.
    pub(crate) fn tip_follows(&self) -> bool {
        match self.transaction {
            Some(mode) => mode.aborted(),
            None => self.is_empty(),
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Bound::default()
    }
}
