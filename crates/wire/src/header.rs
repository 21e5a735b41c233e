//! The eight bytes before every record.

use oxperf_abi::{Misc, RecordType};

use crate::{Cursor, Encoder, WireError};

/// `struct perf_event_header`: kind, flags, and size with the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordHeader {
    /// Kind of record.
    pub kind: RecordType,
    /// Flags; their meaning depends on the kind.
    pub misc: Misc,
    /// Bytes of header and body together.
    pub size: u32,
}

impl RecordHeader {
    /// Bytes of the header.
    pub const SIZE: usize = 8;

    /// The largest record of the usual form, a multiple of 8.
    pub const MAX_SIZE: usize = 65528;

    /// Reads a header; refuses a size below the header's own.
    #[inline]
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<RecordHeader, WireError> {
        let kind = RecordType(cursor.u32()?);
        let misc = Misc(cursor.u16()?);
        let size = u32::from(cursor.u16()?);
        if (size as usize) < Self::SIZE {
            return Err(WireError::RecordSize { size });
        }
        Ok(RecordHeader { kind, misc, size })
    }

    /// Writes the header.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.kind.0);
        encoder.u16(self.misc.0);
        encoder.u16(self.size as u16);
    }
}
