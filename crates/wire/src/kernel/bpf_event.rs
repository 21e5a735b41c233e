//! BPF programs that come and go.

use crate::{Cursor, Encoder, WireError};

/// A BPF program was loaded or unloaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BpfEvent {
    /// 1 loaded, 2 unloaded.
    pub kind: u16,
    /// Reserved.
    pub flags: u16,
    /// The program's id.
    pub id: u32,
    /// Hash of its instructions.
    pub tag: [u8; 8],
}

impl BpfEvent {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<BpfEvent, WireError> {
        let (kind, flags, id) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
        let mut tag = [0; 8];
        tag.copy_from_slice(cursor.bytes(8)?);
        Ok(BpfEvent {
            kind,
            flags,
            id,
            tag,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u16(self.kind);
        encoder.u16(self.flags);
        encoder.u32(self.id);
        encoder.bytes(&self.tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = BpfEvent {
            kind: 1,
            flags: 0,
            id: 9,
            tag: *b"abcdefgh",
        };
        round_trip(&record, BpfEvent::encode, |cursor| {
            BpfEvent::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
