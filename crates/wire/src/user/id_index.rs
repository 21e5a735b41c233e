//! Which event id belongs to which ring, CPU and thread.

use oxperf_abi::EventId;

use crate::{Cursor, Encoder, WireError, Words};

/// One event id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdIndexEntry {
    /// The id.
    pub id: EventId,
    /// Index of its ring.
    pub index: u64,
    /// CPU; all ones for any.
    pub cpu: u64,
    /// Thread; all ones for any.
    pub tid: u64,
}

/// ID_INDEX: a table of event ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdIndex<'a> {
    words: Words<'a>,
}

impl<'a> IdIndex<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<IdIndex<'a>, WireError> {
        let count = cursor.u64()?;
        Ok(IdIndex { words: Words::new(cursor.items(count, 32)?, cursor.endian()) })
    }

    /// The entries.
    pub fn entries(&self) -> impl Iterator<Item = IdIndexEntry> + use<'a> {
        let mut words = self.words.iter();
        std::iter::from_fn(move || {
            Some(IdIndexEntry {
                id: EventId(words.next()?),
                index: words.next()?,
                cpu: words.next()?,
                tid: words.next()?,
            })
        })
    }

    /// Appends the body of such a record.
    pub fn encode_entries(entries: &[IdIndexEntry], encoder: &mut Encoder) {
        encoder.u64(entries.len() as u64);
        for entry in entries {
            for word in [entry.id.0, entry.index, entry.cpu, entry.tid] {
                encoder.u64(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let entries = [IdIndexEntry { id: EventId(9), index: 0, cpu: 1, tid: u64::MAX }; 2];
        let mut body = Encoder::new(Endian::Big);
        IdIndex::encode_entries(&entries, &mut body);
        let read = IdIndex::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)).unwrap();
        assert_eq!(read.entries().collect::<Vec<_>>(), entries);
    }
}
