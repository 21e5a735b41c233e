//! Commands that a user gives a recording that goes on.

use super::Recorder;
use crate::control_channel::{ControlCommand, ControlMessage};
use crate::error::CaptureError;
use crate::notice::Observer;

impl Recorder<'_> {
    /// Does what was asked for since the last time.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn obey_all(&mut self, observer: &mut dyn Observer) -> Result<(), CaptureError> {
        for message in self.control.take_asked() {
            self.obey(&message, observer)?;
        }
        Ok(())
    }

    fn obey(
        &mut self,
        message: &ControlMessage,
        observer: &mut dyn Observer,
    ) -> Result<(), CaptureError> {
        let mut is_known = true;
        match &message.command {
            ControlCommand::Enable(event) => {
                is_known = self.set_counting(event.as_deref(), true)?
            }
            ControlCommand::Disable(event) => {
                is_known = self.set_counting(event.as_deref(), false)?;
            }
            ControlCommand::Stop => self.control.end(),
            ControlCommand::Snapshot => self.take_snapshot(observer)?,
            ControlCommand::ListEvents(_)
            | ControlCommand::Ping
            | ControlCommand::Wrong
            | ControlCommand::Unknown => {}
        }
        observer.obeyed(message, &self.acquired.plan, is_known);
        if message.command != ControlCommand::Unknown {
            self.control.acknowledge();
        }
        Ok(())
    }

    /// Lets all events count, or the one of a name, or lets them count no more; returns whether there are such. The event that
    /// carries the records of tasks and mappings alone is none of them: without those records samples have no names.
    pub(super) fn set_counting(
        &mut self,
        event: Option<&str>,
        counts: bool,
    ) -> Result<bool, CaptureError> {
        self.note_trace_counts(event, counts);
        let (plan, open) = (&self.acquired.plan, &self.acquired.open);
        let set = open.set_counting(self.context.kernel, plan, event, counts);
        set.map_err(CaptureError::Enable)
    }
}
