//! Marks in the order of the records.

use crate::{Cursor, Encoder, WireError};

/// The end of a round of the rings, or of the records that were made up at the beginning. It has no body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderMark;

impl OrderMark {
    /// Decodes the body, of which nothing is read.
    ///
    /// # Errors
    /// None; the other bodies have some.
    pub fn decode(_: &mut Cursor<'_>) -> Result<OrderMark, WireError> {
        Ok(OrderMark)
    }

    /// Appends the body: nothing.
    pub fn encode(&self, _: &mut Encoder) {}
}
