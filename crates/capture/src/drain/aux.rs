//! A piece of hardware trace on its way from an area to an output, with the record that stands before it.

use oxperf_abi::{Cpu, Misc, RecordType, Tid};
use oxperf_wire::user::Auxtrace;
use oxperf_wire::{Encoder, Endian};

/// The area that a piece of trace comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceOrigin {
    /// The place of its ring among all rings.
    pub index: u32,
    /// The traced thread; of several the first, -1 for all.
    pub tid: Tid,
    /// The traced CPU; `None` where the area is a thread's.
    pub cpu: Option<Cpu>,
}

/// Trace that waited in an area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracePiece<'a> {
    /// Where it comes from.
    pub origin: TraceOrigin,
    /// Position of the first byte in the whole trace.
    pub position: u64,
    /// The number that tells pieces apart: a time stamp.
    pub reference: u64,
    /// The trace, oldest byte first: two pieces, the second of which is empty unless the trace lies around the end of the
    /// area.
    pub bytes: [&'a [u8]; 2],
}

impl TracePiece<'_> {
    /// Bytes of trace.
    pub fn length(&self) -> usize {
        let [first, second] = self.bytes;
        first.len() + second.len()
    }

    /// Zeros behind the trace: records begin at whole words.
    pub(crate) fn padding(&self) -> usize {
        self.length().next_multiple_of(8) - self.length()
    }

    /// The record before the trace.
    pub(crate) fn record(&self) -> Vec<u8> {
        let record = Auxtrace {
            size: (self.length() + self.padding()) as u64,
            offset: self.position,
            reference: self.reference,
            index: self.origin.index,
            tid: self.origin.tid,
            cpu: self.origin.cpu.map(|cpu| cpu.0),
        };
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(RecordType::AUXTRACE, Misc(0), |body| record.encode(body));
        encoder.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_wire::{Cursor, RecordHeader};

    #[test]
    fn the_record_tells_the_size_in_whole_words() {
        let piece = TracePiece {
            origin: TraceOrigin {
                index: 3,
                tid: Tid(7),
                cpu: Some(Cpu(1)),
            },
            position: 100,
            reference: 9,
            bytes: [b"abcde", b"fghi"],
        };
        let bytes = piece.record();
        let mut cursor = Cursor::new(&bytes, Endian::NATIVE);
        let header = RecordHeader::decode(&mut cursor).unwrap();
        assert_eq!(
            (header.kind, header.size as usize),
            (RecordType::AUXTRACE, bytes.len())
        );
        let record = Auxtrace::decode(&mut cursor).unwrap();
        assert_eq!((record.size, record.offset, record.reference), (16, 100, 9));
        assert_eq!((record.index, record.tid, record.cpu), (3, Tid(7), Some(1)));
        assert_eq!((piece.length(), piece.padding()), (9, 7));
    }
}
