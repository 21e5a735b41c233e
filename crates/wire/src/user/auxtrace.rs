//! A piece of AUX trace, which follows its record.

use oxperf_abi::Tid;

use crate::{Cursor, Encoder, WireError};

/// AUXTRACE: where a piece of trace comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Auxtrace {
    /// Bytes behind the record, with padding to 8.
    pub size: u64,
    /// Offset of its first byte in the endless stream of its ring.
    pub offset: u64,
    /// A time stamp, or a number that distinguishes pieces.
    pub reference: u64,
    /// Index of its ring.
    pub index: u32,
    /// The traced thread; -1 for all.
    pub tid: Tid,
    /// The traced CPU; `None` when the ring is a thread's.
    pub cpu: Option<u32>,
}

impl Auxtrace {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Auxtrace, WireError> {
        Ok(Auxtrace {
            size: cursor.u64()?,
            offset: cursor.u64()?,
            reference: cursor.u64()?,
            index: cursor.u32()?,
            tid: Tid(cursor.i32()?),
            cpu: Some(cursor.u32()?).filter(|cpu| *cpu != u32::MAX),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.size);
        encoder.u64(self.offset);
        encoder.u64(self.reference);
        encoder.u32(self.index);
        encoder.i32(self.tid.0);
        encoder.u32(self.cpu.unwrap_or(u32::MAX));
        encoder.u32(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        for cpu in [Some(3), None] {
            let record = Auxtrace {
                size: 16,
                offset: 1,
                reference: 2,
                index: 0,
                tid: Tid(-1),
                cpu,
            };
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            assert_eq!(
                Auxtrace::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
                Ok(record)
            );
        }
    }
}
