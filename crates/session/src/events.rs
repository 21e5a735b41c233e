//! The recording's events, and which of them a record belongs to.

use oxperf_abi::{EventAttr, EventId, RecordType};
use oxperf_data::Reader;
use oxperf_wire::user::HeaderAttr;
use oxperf_wire::{Endian, SampleLayout};
use rustc_hash::FxHashMap;

/// The place of an event in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventIndex(pub usize);

/// One event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionEvent {
    /// Its attribute.
    pub attr: EventAttr,
    /// The shape of its records.
    pub layout: SampleLayout,
    /// Its name, recorded or made from the attribute.
    pub name: String,
}

/// All events of a recording.
#[derive(Clone, Debug)]
pub struct EventTable {
    events: Vec<SessionEvent>,
    /// Number of them that the file lists; the others' samples are made while reading.
    recorded: usize,
    by_id: FxHashMap<EventId, EventIndex>,
}

impl EventTable {
    /// The events that a file lists.
    pub fn new(reader: &Reader<'_>) -> EventTable {
        let events = reader.events().iter().map(|entry| SessionEvent {
            attr: entry.stored.attr,
            layout: SampleLayout::new(&entry.stored.attr),
            name: entry
                .name
                .clone()
                .unwrap_or_else(|| entry.stored.attr.generic_name()),
        });
        let ids = reader.events().iter().enumerate();
        let by_id = ids
            .flat_map(|(index, entry)| entry.ids.iter().map(move |id| (*id, EventIndex(index))))
            .collect();
        let events: Vec<SessionEvent> = events.collect();
        EventTable {
            recorded: events.len(),
            events,
            by_id,
        }
    }

    /// Adds events that the file does not list; gives the place of the first.
    pub(crate) fn add(&mut self, events: Vec<SessionEvent>) -> EventIndex {
        let first = EventIndex(self.events.len());
        self.events.extend(events);
        first
    }

    /// Adds an event that a stream describes between its samples; `None` behind events that the file does not list.
    pub(crate) fn add_event(&mut self, header: &HeaderAttr<'_>) -> Option<EventIndex> {
        if self.recorded < self.events.len() {
            return None;
        }
        let (index, attr) = (EventIndex(self.recorded), header.stored.attr);
        let (layout, name) = (SampleLayout::new(&attr), attr.generic_name());
        self.events.push(SessionEvent { attr, layout, name });
        self.recorded += 1;
        self.by_id
            .extend(header.ids.iter().map(|id| (EventId(id), index)));
        Some(index)
    }

    /// Names the event with an id.
    pub(crate) fn rename(&mut self, id: EventId, name: &[u8]) -> Option<EventIndex> {
        let index = self.by_id(id)?;
        self.events[index.0].name = String::from_utf8_lossy(name).into_owned();
        Some(index)
    }

    /// The events in file order, behind them those that were added.
    pub fn events(&self) -> &[SessionEvent] {
        &self.events
    }

    /// The event with an id.
    #[inline]
    pub fn by_id(&self, id: EventId) -> Option<EventIndex> {
        self.by_id.get(&id).copied()
    }

    /// Returns whether records name the event by an id.
    pub(crate) fn has_id(&self, event: EventIndex) -> bool {
        self.by_id.values().any(|index| *index == event)
    }

    /// The event that a sample belongs to, from the bytes behind its header.
    pub fn owner_of_sample(&self, body: &[u8], endian: Endian) -> Option<EventIndex> {
        self.owner(RecordType::SAMPLE, body, endian).ok()
    }

    /// The event that a record of this kind belongs to, from the bytes behind its header.
    pub fn owner_of_record(
        &self,
        kind: RecordType,
        body: &[u8],
        endian: Endian,
    ) -> Option<EventIndex> {
        self.owner(kind, body, endian).ok()
    }

    /// `true` if every event's records carry the trailer that ordering needs.
    pub fn all_have_trailers(&self) -> bool {
        self.events[..self.recorded]
            .iter()
            .all(|event| event.layout.sample_id_all())
    }

    /// The event that a record belongs to, before the record is decoded. `Err` when its id is not listed.
    ///
    /// With one event there is no choice; an id of 0 is a tool's record and goes with the first event.
    #[inline]
    pub(crate) fn owner(
        &self,
        kind: RecordType,
        body: &[u8],
        endian: Endian,
    ) -> Result<EventIndex, UnknownId> {
        let first = self.events.first().ok_or(UnknownId)?;
        if self.recorded == 1 {
            return Ok(EventIndex(0));
        }
        let word = if kind == RecordType::SAMPLE {
            first
                .layout
                .sample_id_word()
                .and_then(|word| word_from_start(body, word, endian))
        } else if first.layout.sample_id_all() {
            first
                .layout
                .trailer_id_word()
                .and_then(|word| word_from_end(body, word, endian))
        } else {
            None
        };
        match word {
            None | Some(0) => Ok(EventIndex(0)),
            Some(id) => self.by_id(EventId(id)).ok_or(UnknownId),
        }
    }
}

/// A record's id is none that the file lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnknownId;

/// The word at an index.
#[inline]
pub(crate) fn word_from_start(body: &[u8], index: usize, endian: Endian) -> Option<u64> {
    let bytes = body.get(index * 8..)?.first_chunk()?;
    Some(endian.u64(*bytes))
}

/// The word that is `index` words before the end.
#[inline]
pub(crate) fn word_from_end(body: &[u8], index: usize, endian: Endian) -> Option<u64> {
    let bytes = body
        .get(body.len().checked_sub(index * 8)?..)?
        .first_chunk()?;
    Some(endian.u64(*bytes))
}
