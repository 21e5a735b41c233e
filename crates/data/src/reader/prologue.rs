//! The records at the beginning of a stream that say about it what a file has in its header.

use oxperf_abi::{EventId, RecordType};
use oxperf_wire::{Cursor, Endian, StoredAttr};

use super::{EventEntry, Framed, RawRecord};
use crate::{Damage, DamageList, FeatureId};

/// Events and features from the records of a stream.
#[derive(Debug)]
pub(super) struct Prologue {
    endian: Endian,
    pub(super) events: Vec<EventEntry>,
    pub(super) features: Vec<(FeatureId, Vec<u8>)>,
    /// Attributes that cannot be used.
    pub(super) damage: DamageList,
    /// True if trace of instructions was announced.
    pub(super) traced: bool,
    bytes: usize,
}

/// EVENT_UPDATE: the event's name.
const UPDATE_NAME: u64 = 2;
/// A prologue longer than this is none: what follows are records.
const LONGEST: usize = 64 << 20;

impl Prologue {
    pub(super) fn new(endian: Endian) -> Prologue {
        Prologue {
            endian,
            events: Vec::new(),
            features: Vec::new(),
            damage: DamageList::default(),
            traced: false,
            bytes: 0,
        }
    }

    /// Reads up to the first record that belongs to the recording proper, which is given to `seen`, too.
    pub(super) fn read<B: AsRef<[u8]>>(
        &mut self,
        records: impl Iterator<Item = Result<Framed<B>, Damage>>,
        mut seen: impl FnMut(Result<Framed<B>, Damage>),
    ) {
        for record in records {
            let goes_on = match &record {
                Ok(record) => self.note(&record.as_raw()),
                Err(_) => true,
            };
            seen(record);
            if !goes_on {
                break;
            }
        }
    }

    /// Takes what a record says; `false` for the first one after the prologue.
    fn note(&mut self, record: &RawRecord<'_>) -> bool {
        match record.header.kind {
            RecordType::HEADER_ATTR => self.note_event(record),
            RecordType::HEADER_FEATURE => self.note_feature(record.body),
            RecordType::EVENT_UPDATE => self.note_update(record.body),
            RecordType::HEADER_TRACING_DATA => {
                self.add_feature(FeatureId::TRACING_DATA, record.payload)
            }
            RecordType::AUXTRACE_INFO => self.traced = true,
            RecordType::SAMPLE
            | RecordType::FINISHED_ROUND
            | RecordType::COMPRESSED
            | RecordType::COMPRESSED2 => return false,
            _ => {}
        }
        self.bytes = self.bytes.saturating_add(record.body.len());
        self.bytes < LONGEST
    }

    fn note_event(&mut self, record: &RawRecord<'_>) {
        let Ok(stored) = StoredAttr::decode(record.body, self.endian) else {
            let (offset, size) = (record.offset, u64::from(record.header.size));
            return self.damage.add(Damage::PartUnusable {
                part: "attribute",
                offset,
                size,
            });
        };
        let ids = record.body.get(stored.size as usize..).unwrap_or_default();
        let mut ids = Cursor::new(ids, self.endian);
        let ids = std::iter::from_fn(|| ids.u64().ok().map(EventId)).collect();
        self.events.push(EventEntry {
            stored,
            ids,
            name: None,
        });
    }

    /// The end of the features is marked by one without bytes, of a number that has no feature.
    fn note_feature(&mut self, body: &[u8]) {
        let mut cursor = Cursor::new(body, self.endian);
        let id = cursor.u64().ok().and_then(|id| u8::try_from(id).ok());
        if let (Some(id), true) = (id, cursor.remaining() > 0) {
            self.add_feature(FeatureId(id), cursor.rest());
        }
    }

    fn add_feature(&mut self, id: FeatureId, bytes: &[u8]) {
        match self.features.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = bytes.to_vec(),
            None => self.features.push((id, bytes.to_vec())),
        }
    }

    fn note_update(&mut self, body: &[u8]) {
        let mut cursor = Cursor::new(body, self.endian);
        let (Ok(UPDATE_NAME), Ok(id)) = (cursor.u64(), cursor.u64()) else {
            return;
        };
        let Ok(name) = cursor.c_string() else { return };
        let name = String::from_utf8_lossy(name).into_owned();
        if let Some(event) = self
            .events
            .iter_mut()
            .find(|event| event.ids.contains(&EventId(id)))
        {
            event.name = Some(name);
        }
    }
}
