//! Number and name of an event, as early versions of perf wrote them.

use crate::{Cursor, Encoder, WireError};

/// An event's type with its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventTypeName<'a> {
    /// The event's number.
    pub id: u64,
    /// Its name with the NULs behind it, to the end of the record.
    pub name: &'a [u8],
}

impl<'a> EventTypeName<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// The bytes end within the number.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<EventTypeName<'a>, WireError> {
        Ok(EventTypeName {
            id: cursor.u64()?,
            name: cursor.rest(),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.id);
        encoder.bytes(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = EventTypeName {
            id: 3,
            name: b"cycles\0\0",
        };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        let read = EventTypeName::decode(&mut Cursor::new(body.as_bytes(), Endian::Big));
        assert_eq!(read, Ok(record));
    }
}
