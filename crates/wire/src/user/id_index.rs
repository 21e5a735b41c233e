//! The ring, CPU and thread of each event id.

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
    guests: Option<Words<'a>>,
}

/// The guest that an event counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdIndexGuest {
    /// The guest's process on the host; 0 for the host itself.
    pub machine_pid: u64,
    /// The guest's CPU.
    pub vcpu: u64,
}

impl<'a> IdIndex<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<IdIndex<'a>, WireError> {
        let count = cursor.u64()?;
        let words = Words::new(cursor.items(count, 32)?, cursor.endian());
        let guests = cursor
            .items(count, 16)
            .ok()
            .map(|bytes| Words::new(bytes, cursor.endian()));
        Ok(IdIndex { words, guests })
    }

    /// The guests of the entries, if the recorder noted them.
    pub fn guests(&self) -> Option<impl Iterator<Item = IdIndexGuest> + use<'a>> {
        let mut words = self.guests?.iter();
        Some(std::iter::from_fn(move || {
            Some(IdIndexGuest {
                machine_pid: words.next()?,
                vcpu: words.next()?,
            })
        }))
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

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64((self.words.len() / 4) as u64);
        let guests = self.guests.iter().flat_map(Words::iter);
        self.words
            .iter()
            .chain(guests)
            .for_each(|word| encoder.u64(word));
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
        let entries = [IdIndexEntry {
            id: EventId(9),
            index: 0,
            cpu: 1,
            tid: u64::MAX,
        }; 2];
        let mut body = Encoder::new(Endian::Big);
        IdIndex::encode_entries(&entries, &mut body);
        let read = IdIndex::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)).unwrap();
        assert_eq!(read.entries().collect::<Vec<_>>(), entries);
        assert!(read.guests().is_none());
    }

    #[test]
    fn guests_follow_the_entries() {
        let mut body = Encoder::new(Endian::Little);
        let entry = IdIndexEntry {
            id: EventId(9),
            index: 0,
            cpu: 1,
            tid: 2,
        };
        IdIndex::encode_entries(&[entry], &mut body);
        [3, 4].into_iter().for_each(|word| body.u64(word));
        let read = IdIndex::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)).unwrap();
        let guests: Vec<_> = read.guests().unwrap().collect();
        assert_eq!(
            guests,
            [IdIndexGuest {
                machine_pid: 3,
                vcpu: 4
            }]
        );
    }
}
