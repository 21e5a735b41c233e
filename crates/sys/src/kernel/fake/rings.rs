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
    /// Parts of a byte, in its 10^-9.
    rest: u64,
    /// Bytes after which the reader is woken; 0 for half of the area.
    watermark: u64,
    /// Bytes since it was woken.
    unannounced: u64,
    count: FakeTraceCount,
}

/// What hardware did with an AUX area of the fake kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FakeTraceCount {
    /// Bytes of the stream that were written.
    pub written: u64,
    /// Bytes for which there was no space.
    pub lost: u64,
    /// How often there was none, which stops the event.
    pub truncated: u64,
}

/// A stream of trace, written again and again, so many bytes a second.
#[derive(Debug, Default)]
pub(super) struct TraceStream {
    pub(super) bytes: Vec<u8>,
    pub(super) rate: u64,
}

impl TraceStream {
    /// So many bytes from a position on; zeros where there is no stream.
    fn piece(&self, position: u64, length: usize) -> Vec<u8> {
        let mut piece = Vec::with_capacity(length);
        let bytes = match self.bytes.is_empty() {
            true => &[0][..],
            false => &self.bytes,
        };
        let mut at = (position % bytes.len() as u64) as usize;
        while piece.len() < length {
            let end = bytes.len().min(at + length - piece.len());
            piece.extend_from_slice(&bytes[at..end]);
            at = 0;
        }
        piece
    }
}

/// What hardware wrote in one step.
pub(super) struct TraceStep {
    /// The words of an AUX record.
    pub(super) words: [u64; 3],
    /// There was no space for more: the event stops.
    pub(super) is_full: bool,
    /// The reader is to be woken.
    pub(super) wakes: bool,
}

impl FakeTrace {
    pub(super) fn new(writer: TraceWriter, watermark: u32) -> FakeTrace {
        FakeTrace {
            writer,
            rest: 0,
            watermark: watermark.into(),
            unannounced: 0,
            count: FakeTraceCount::default(),
        }
    }

    pub(super) fn count(&self) -> FakeTraceCount {
        self.count
    }

    /// Writes what comes in this time. Where the area is full the rest of it is lost, and the record says so.
    pub(super) fn pass(&mut self, stream: &TraceStream, nanoseconds: u64) -> Option<TraceStep> {
        const SECOND: u128 = 1_000_000_000;
        const TRUNCATED: u64 = 1;
        const OVERWRITE: u64 = 2;
        let parts = u128::from(stream.rate) * u128::from(nanoseconds) + u128::from(self.rest);
        self.rest = (parts % SECOND) as u64;
        let come = usize::try_from(parts / SECOND).unwrap_or(usize::MAX);
        let taken = match self.writer.overwrites() {
            true => come,
            false => come.min(self.writer.space()),
        };
        let (start, is_full) = (self.writer.position(), taken < come);
        let piece = stream.piece(self.count.written, taken);
        if come == 0 || !self.writer.write(&piece) {
            return None;
        }
        self.count.written += taken as u64;
        self.count.lost += (come - taken) as u64;
        self.count.truncated += u64::from(is_full);
        Some(TraceStep {
            words: match self.writer.overwrites() {
                // The kernel says where the head is, and nothing of what was written.
                true => [self.writer.position(), 0, OVERWRITE],
                false => [start, taken as u64, if is_full { TRUNCATED } else { 0 }],
            },
            is_full,
            wakes: self.wakes(taken as u64),
        })
    }

    fn wakes(&mut self, bytes: u64) -> bool {
        self.unannounced += bytes;
        let is_due = self.watermark > 0 && self.unannounced >= self.watermark;
        if is_due {
            self.unannounced = 0;
        }
        is_due
    }
}
