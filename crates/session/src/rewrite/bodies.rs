//! What becomes of the body of one record.

use oxperf_abi::{EventAttr, EventType, RecordType};
use oxperf_data::{RawRecord, Reader};
use oxperf_wire::{Encoder, Endian, RecordBody, SampleLayout, TranscodeError};

use super::tracing::RawData;
use crate::{EventIndex, EventTable, SessionEvent};

/// Looks at each body, and brings it into this machine's byte order where it is in another.
#[derive(Debug)]
pub(super) struct Bodies {
    endian: Endian,
    events: EventTable,
    raw: RawData,
    scratch: Encoder,
    /// The shape of records when there is no event.
    bare: SampleLayout,
    /// One more than the highest CPU that a record names.
    pub(super) cpus: u32,
    /// Samples whose raw data stay in the recorder's byte order.
    pub(super) raw_unmapped: u64,
}

/// A body that perf can read, or why it cannot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome<'a> {
    Readable(&'a [u8]),
    /// It does not hold what its kind needs, or its size is none that a record has.
    Undecodable,
    /// No perf knows the kind.
    Unknown,
}

/// CPUs that perf counts with; a higher number is none.
const MOST_CPUS: u32 = 4096;

impl Bodies {
    pub(super) fn new(reader: &Reader<'_>, events: EventTable) -> Bodies {
        Bodies {
            endian: reader.endian(),
            events,
            raw: RawData::new(reader),
            scratch: Encoder::new(Endian::NATIVE),
            bare: SampleLayout::new(&EventAttr::default()),
            cpus: 0,
            raw_unmapped: 0,
        }
    }

    /// The body for the new file.
    pub(super) fn take<'a>(&'a mut self, record: &RawRecord<'a>) -> Outcome<'a> {
        let kind = record.header.kind;
        if kind.name().is_none() || kind.is_simpleperf() {
            return Outcome::Unknown;
        }
        let event = self
            .owner(record)
            .map(|index| &self.events.events()[index.0]);
        let layout = event.map_or(&self.bare, |event| &event.layout);
        self.cpus = self
            .cpus
            .max(cpu(record, layout, self.endian).map_or(0, |cpu| cpu + 1));
        self.scratch.clear();
        let (raw, unmapped, foreign) = (
            &self.raw,
            &mut self.raw_unmapped,
            self.endian != Endian::NATIVE,
        );
        let body = RecordBody {
            kind,
            misc: record.header.misc,
            bytes: record.body,
            endian: self.endian,
            layout,
        };
        let done = body.transcode(&mut self.scratch, |data| {
            if foreign && !raw.reorder(tracepoint(event), data) {
                *unmapped += 1;
            }
        });
        match done {
            Err(TranscodeError::Wire(_)) => Outcome::Undecodable,
            _ if !record.body.len().is_multiple_of(8) => Outcome::Undecodable,
            // A shape that is newer than this program is still whole in its own byte order.
            _ if !foreign => Outcome::Readable(record.body),
            Ok(()) => Outcome::Readable(self.scratch.as_bytes()),
            Err(TranscodeError::Unknown(_)) => Outcome::Unknown,
        }
    }

    /// The event whose shape the record has: the first one where it names none that is listed.
    fn owner(&self, record: &RawRecord<'_>) -> Option<EventIndex> {
        let first = (!self.events.events().is_empty()).then_some(EventIndex(0));
        self.events
            .owner(record.header.kind, record.body, self.endian)
            .ok()
            .or(first)
    }
}

/// The number of the event's tracepoint, if it is one.
fn tracepoint(event: Option<&SessionEvent>) -> Option<u64> {
    event
        .filter(|event| event.attr.kind == EventType::TRACEPOINT)
        .map(|event| event.attr.config)
}

/// The CPU that a record of the kernel names.
fn cpu(record: &RawRecord<'_>, layout: &SampleLayout, endian: Endian) -> Option<u32> {
    let cpu = match record.header.kind {
        RecordType::SAMPLE => layout.decode_sample(record.body, endian).ok()?.cpu?,
        kind if kind.is_user() => return None,
        _ => layout.sample_id(record.body, endian).cpu?,
    };
    Some(cpu.0).filter(|cpu| *cpu < MOST_CPUS)
}
