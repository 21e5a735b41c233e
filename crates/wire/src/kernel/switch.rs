//! A task went on or off a CPU.

use crate::{Cursor, Encoder, WireError};

/// A switch of the task that the event counts; the flags of the header give its direction. It has no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Switch;

impl Switch {
    /// Decodes the body, of which nothing is read.
    ///
    /// # Errors
    /// None; the other bodies have some.
    pub fn decode(_: &mut Cursor<'_>) -> Result<Switch, WireError> {
        Ok(Switch)
    }

    /// Appends the body: nothing.
    pub fn encode(&self, _: &mut Encoder) {}
}
