//! Kernel symbols that come and go.

use crate::{Cursor, Encoder, WireError};

/// A symbol outside the kernel image was registered or taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ksymbol<'a> {
    /// First address.
    pub addr: u64,
    /// Bytes.
    pub len: u32,
    /// 1 BPF, 2 out of line.
    pub kind: u16,
    /// Bit 0: taken away.
    pub flags: u16,
    /// The symbol.
    pub name: &'a [u8],
}

impl<'a> Ksymbol<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Ksymbol<'a>, WireError> {
        Ok(Ksymbol {
            addr: cursor.u64()?,
            len: cursor.u32()?,
            kind: cursor.u16()?,
            flags: cursor.u16()?,
            name: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.addr);
        encoder.u32(self.len);
        encoder.u16(self.kind);
        encoder.u16(self.flags);
        encoder.c_string_padded(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Ksymbol {
            addr: 0x1122_3344,
            len: 77,
            kind: 3,
            flags: 3,
            name: b"/usr/bin/make",
        };
        round_trip(&record, Ksymbol::encode, |cursor| {
            Ksymbol::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
