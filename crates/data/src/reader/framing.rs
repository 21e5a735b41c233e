//! Where one record ends and the next begins.

use oxperf_abi::{Misc, RecordType};
use oxperf_wire::{Endian, RecordHeader};

/// Reads the frame of a record in one byte order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    pub(super) endian: Endian,
}

/// What stands at the beginning of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// A whole record: its header, and the bytes that follow outside of its size.
    Whole { header: RecordHeader, payload: usize },
    /// The beginning of a record that takes so many bytes in all, as far as can be told.
    Part { wanted: u64 },
    /// A record whose size is less than its header's.
    Senseless { size: u32 },
}

impl Framing {
    /// Bytes of a record's header.
    pub(super) const HEADER: usize = RecordHeader::SIZE;
    /// Types above this are simpleperf's, with a size of 32 bits.
    const LAST_SHORT_TYPE: u32 = 32768;

    /// Reads a header.
    #[inline]
    pub(super) fn header(self, bytes: [u8; 8]) -> RecordHeader {
        let [k0, k1, k2, k3, m0, m1, s0, s1] = bytes;
        let (kind, misc, size) = match self.endian {
            Endian::Little => (
                u32::from_le_bytes([k0, k1, k2, k3]),
                u16::from_le_bytes([m0, m1]),
                u16::from_le_bytes([s0, s1]),
            ),
            Endian::Big => (
                u32::from_be_bytes([k0, k1, k2, k3]),
                u16::from_be_bytes([m0, m1]),
                u16::from_be_bytes([s0, s1]),
            ),
        };
        let kind = RecordType(kind);
        if kind.0 > Self::LAST_SHORT_TYPE {
            return RecordHeader { kind, misc: Misc(0), size: u32::from(misc) << 16 | u32::from(size) };
        }
        RecordHeader { kind, misc: Misc(misc), size: u32::from(size) }
    }

    /// Bytes outside of the record's own size that belong to it.
    #[inline]
    pub(super) fn payload_size(self, kind: RecordType, body: &[u8]) -> u64 {
        match kind {
            RecordType::HEADER_TRACING_DATA => self.number(body, 4),
            RecordType::AUXTRACE => self.number(body, 8),
            _ => 0,
        }
    }

    /// The number in the first `width` bytes; 0 when there are fewer.
    #[cold]
    pub(super) fn number(self, body: &[u8], width: usize) -> u64 {
        let digits = body.get(..width).unwrap_or_default().iter();
        let shift_in = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match self.endian {
            Endian::Little => digits.rev().fold(0, shift_in),
            Endian::Big => digits.fold(0, shift_in),
        }
    }

    /// Looks at the record that begins with the first of `bytes`.
    #[inline]
    pub(super) fn frame(self, bytes: &[u8]) -> Frame {
        let Some(first) = bytes.first_chunk() else { return Frame::Part { wanted: Self::HEADER as u64 } };
        let header = self.header(*first);
        let size = header.size as usize;
        if size < Self::HEADER {
            return Frame::Senseless { size: header.size };
        }
        let Some(body) = bytes.get(Self::HEADER..size) else {
            return Frame::Part { wanted: u64::from(header.size) };
        };
        let payload = self.payload_size(header.kind, body);
        let wanted = payload.saturating_add(u64::from(header.size));
        if wanted > bytes.len() as u64 {
            return Frame::Part { wanted };
        }
        Frame::Whole { header, payload: payload as usize }
    }
}
