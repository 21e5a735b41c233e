//! The boundaries between records.

use oxperf_abi::{Misc, RecordType};
use oxperf_wire::{Endian, RecordHeader};

/// Reads the frame of a record in one byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pub(crate) endian: Endian,
}

impl Framing {
    /// Bytes of a record's header.
    pub(crate) const HEADER: usize = RecordHeader::SIZE;
    /// Types above this are simpleperf's, with a size of 32 bits.
    const LAST_SHORT_TYPE: u32 = 32768;

    /// Reads a header.
    #[inline]
    pub(crate) fn header(self, bytes: [u8; 8]) -> RecordHeader {
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
            return RecordHeader {
                kind,
                misc: Misc(0),
                size: u32::from(misc) << 16 | u32::from(size),
            };
        }
        RecordHeader {
            kind,
            misc: Misc(misc),
            size: u32::from(size),
        }
    }

    /// Bytes outside of the record's own size that belong to it.
    #[inline]
    pub(crate) fn payload_size(self, kind: RecordType, body: &[u8]) -> u64 {
        match kind {
            RecordType::HEADER_TRACING_DATA => self.number(body, 4),
            RecordType::AUXTRACE => self.number(body, 8),
            _ => 0,
        }
    }

    /// The number in the first `width` bytes; 0 when there are fewer.
    #[cold]
    pub(crate) fn number(self, body: &[u8], width: usize) -> u64 {
        let digits = body.get(..width).unwrap_or_default().iter();
        let shift_in = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match self.endian {
            Endian::Little => digits.rev().fold(0, shift_in),
            Endian::Big => digits.fold(0, shift_in),
        }
    }

    /// The record at the beginning of some bytes, if it is all there: its header, and how many bytes follow outside of
    /// its size.
    pub(crate) fn whole(self, bytes: &[u8]) -> Option<(RecordHeader, usize)> {
        let header = self.header(*bytes.first_chunk()?);
        let size = header.size as usize;
        let payload = self.payload_size(header.kind, bytes.get(Self::HEADER..size)?);
        let payload = usize::try_from(payload).ok()?;
        (bytes.len() - size >= payload).then_some((header, payload))
    }

    /// Number of the bytes that belong to records which end inside of `bytes`.
    pub(crate) fn whole_records(self, bytes: &[u8]) -> usize {
        let mut end = 0;
        while let Some((header, payload)) = self.whole(&bytes[end..]) {
            end += header.size as usize + payload;
        }
        end
    }
}
