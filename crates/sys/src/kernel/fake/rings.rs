//! The rings of a fake kernel: its side of each, what did not fit, and whom it wakes.

use super::calls::{OpenedEvent, OpenedTask};
use crate::kernel::fake::descriptor::Bell;
use crate::ring::{RecordWriter, TraceWriter};
use oxperf_abi::{AttrFlags, EventAttr, EventId, RecordType, SampleType};

/// An event's ring.
#[derive(Debug)]
pub(super) struct FakeRing {
    pub(super) writer: RecordWriter,
    pub(super) bell: Option<Bell>,
    /// Records until a wake-up, or bytes; `None` for half a ring.
    wake: Wake,
    pub(super) paused: bool,
    /// Records that did not fit since the last one that did.
    lost: u64,
    waiting: u64,
}

#[derive(Clone, Copy, Debug)]
enum Wake {
    Records(u64),
    Bytes(usize),
}

impl FakeRing {
    /// The ring of `size` bytes of an event with this attribute.
    pub(super) fn new(
        attr: &EventAttr,
        size: usize,
        writer: RecordWriter,
        bell: Option<Bell>,
    ) -> FakeRing {
        let wake = match attr.wakeup_events {
            0 => Wake::Bytes(size / 2),
            bytes if attr.flags.contains(AttrFlags::WATERMARK) => Wake::Bytes(bytes as usize),
            records => Wake::Records(records.into()),
        };
        FakeRing {
            writer,
            bell,
            wake,
            paused: false,
            lost: 0,
            waiting: 0,
        }
    }

    /// Writes whole records, before them how many were lost meanwhile. False when there is no space, or the ring is paused.
    pub(super) fn write(&mut self, origin: &Origin<'_>, records: &[u8]) -> bool {
        let mut bytes = match self.lost {
            0 => Vec::new(),
            lost => origin.record(RecordType::LOST, &[origin.id.0, lost]),
        };
        bytes.extend(records);
        let written = !self.paused && self.writer.write(&bytes);
        if written {
            self.lost = 0;
            self.waiting += 1;
            self.ring_bell();
        } else {
            self.lost += 1;
        }
        written
    }

    fn ring_bell(&mut self) {
        let is_due = match self.wake {
            Wake::Records(records) => self.waiting >= records,
            Wake::Bytes(bytes) => self.writer.pending() >= bytes,
        };
        if is_due {
            self.wake_up();
        }
    }

    /// Makes the event readable.
    pub(super) fn wake_up(&mut self) {
        self.waiting = 0;
        if let Some(bell) = &self.bell {
            bell.ring();
        }
    }

    /// The reader has consumed records.
    pub(super) fn consumed(&mut self) {
        if let Some(bell) = &self.bell {
            bell.quiet();
        }
    }
}

/// The event that a record comes from, and the moment.
pub(super) struct Origin<'a> {
    pub(super) event: &'a OpenedEvent,
    pub(super) id: EventId,
    pub(super) time: u64,
}

impl Origin<'_> {
    /// A record of words, with the sample id that the attribute asks for.
    pub(super) fn record(&self, kind: RecordType, words: &[u64]) -> Vec<u8> {
        const HEADER: usize = 8;
        let body: Vec<u64> = words.iter().copied().chain(self.trailer()).collect();
        let size = (HEADER + body.len() * 8) as u16;
        let mut bytes = Vec::with_capacity(size.into());
        bytes.extend(kind.0.to_ne_bytes());
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(body.iter().flat_map(|word| word.to_ne_bytes()));
        bytes
    }

    fn trailer(&self) -> Vec<u64> {
        let attr = &self.event.attr;
        if !attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            return Vec::new();
        }
        let cpu = self.event.cpu.map_or(0, |cpu| cpu.0);
        let fields = [
            (SampleType::TID, pair(self.thread(), self.thread())),
            (SampleType::TIME, self.time),
            (SampleType::ID, self.id.0),
            (SampleType::STREAM_ID, self.id.0),
            (SampleType::CPU, pair(cpu, 0)),
            (SampleType::IDENTIFIER, self.id.0),
        ];
        let asked = fields
            .iter()
            .filter(|(field, _)| attr.sample_type.contains(*field));
        asked.map(|(_, word)| *word).collect()
    }

    /// The thread, which is its process's only one; 0 for everybody.
    fn thread(&self) -> u32 {
        match self.event.task {
            OpenedTask::Thread(tid) => tid.0 as u32,
            _ => 0,
        }
    }
}

/// Two half words, the first in memory first.
fn pair(first: u32, second: u32) -> u64 {
    let [a, b, c, d] = first.to_ne_bytes();
    let [e, f, g, h] = second.to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// An event's AUX area and the trace that hardware writes there while time passes.
#[derive(Debug)]
pub(super) struct FakeTrace {
    pub(super) writer: TraceWriter,
    /// Bytes of the stream that were written.
    written: u64,
    /// Parts of a byte, in its 10^-9.
    rest: u64,
    truncated: bool,
}

/// A stream of trace, written again and again, so many bytes a second.
#[derive(Debug, Default)]
pub(super) struct TraceStream {
    pub(super) bytes: Vec<u8>,
    pub(super) rate: u64,
}

/// What hardware wrote in one step: the words of an AUX record.
pub(super) type TraceWords = [u64; 3];

impl FakeTrace {
    pub(super) fn new(writer: TraceWriter) -> FakeTrace {
        FakeTrace {
            writer,
            written: 0,
            rest: 0,
            truncated: false,
        }
    }

    /// Writes what comes in this time. Where the area is full the rest of it is lost, and the record says so.
    pub(super) fn pass(&mut self, stream: &TraceStream, nanoseconds: u64) -> Option<TraceWords> {
        const SECOND: u128 = 1_000_000_000;
        let parts = u128::from(stream.rate) * u128::from(nanoseconds) + u128::from(self.rest);
        self.rest = (parts % SECOND) as u64;
        let come = usize::try_from(parts / SECOND).unwrap_or(usize::MAX);
        let taken = come.min(self.writer.space());
        self.truncated |= taken < come;
        let piece: Vec<u8> = (0..taken as u64).map(|at| self.byte(stream, at)).collect();
        self.written += piece.len() as u64;
        self.write(&piece)
    }

    fn byte(&self, stream: &TraceStream, at: u64) -> u8 {
        let length = stream.bytes.len().max(1) as u64;
        let place = ((self.written + at) % length) as usize;
        stream.bytes.get(place).copied().unwrap_or(0)
    }

    /// Writes a piece of trace; the record of it, if it is not empty and fits.
    pub(super) fn write(&mut self, piece: &[u8]) -> Option<TraceWords> {
        const TRUNCATED: u64 = 1;
        const OVERWRITE: u64 = 2;
        let start = self.writer.position();
        if piece.is_empty() || !self.writer.write(piece) {
            return None;
        }
        let truncated = if std::mem::take(&mut self.truncated) {
            TRUNCATED
        } else {
            0
        };
        Some(match self.writer.overwrites() {
            // The kernel says where the head is, and nothing of what was written.
            true => [self.writer.position(), 0, OVERWRITE],
            false => [start, piece.len() as u64, truncated],
        })
    }
}
