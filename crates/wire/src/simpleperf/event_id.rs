//! The kernel's ids of events that were opened late.

use crate::{Cursor, Encoder, WireError, Words};

/// Pairs of an event's place in the file and one of its ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventIds<'a> {
    words: Words<'a>,
}

impl<'a> EventIds<'a> {
    /// Pairs from their words.
    pub fn new(words: Words<'a>) -> EventIds<'a> {
        EventIds { words }
    }

    /// The pairs: the event's place, then its id.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let mut words = self.words.iter();
        std::iter::from_fn(move || Some((words.next()?, words.next()?)))
    }

    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<EventIds<'a>, WireError> {
        let count = cursor.u64()?;
        Ok(EventIds {
            words: Words::new(cursor.items(count, 16)?, cursor.endian()),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.words.len() as u64 / 2);
        self.words.iter().for_each(|word| encoder.u64(word));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{round_trip, words};
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let bytes = words(&[0, 11, 1, 12]);
        let record = EventIds::new(Words::new(&bytes, Endian::Little));
        assert_eq!(record.pairs().collect::<Vec<_>>(), [(0, 11), (1, 12)]);
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| EventIds::decode(cursor) == Ok(record),
        );
    }
}
