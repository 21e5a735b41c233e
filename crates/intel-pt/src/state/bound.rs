//! Events that wait for the FUP packet that names their instruction.

use crate::packet::{ControlFlowEvent, ModeExec, ModeTsx, Mwait, PowerEntry, Trigger};

/// What comes behind a FUP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// Nothing that belongs to it.
    Nothing,
    /// A TIP packet.
    Tip,
    /// A TIP packet, if the event transfers control.
    Maybe,
}

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
    pub(crate) trigger: Option<Trigger>,
}

impl Bound {
    /// Whether a TIP packet follows the FUP: it does, unless the FUP only names the instruction of an event.
    pub(crate) fn follows(&self) -> Follows {
        let named =
            self.write.is_some() || self.stop || self.block || self.trigger.is_some() || self.mode.is_some();
        match (self.control_flow, self.transaction) {
            (Some(event), _) if event.is_by_instruction() => Follows::Nothing,
            (Some(_), _) => Follows::Maybe,
            (None, Some(mode)) if !mode.aborted() => Follows::Nothing,
            _ if named => Follows::Nothing,
            _ => Follows::Tip,
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Bound::default()
    }
}
