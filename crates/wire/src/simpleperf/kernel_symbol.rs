//! The kernel's symbols, for records that come as a stream.

use crate::{Cursor, Encoder, WireError};

/// The text of `/proc/kallsyms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimpleperfKernelSymbols<'a> {
    /// The text.
    pub kallsyms: &'a [u8],
}

impl<'a> SimpleperfKernelSymbols<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<SimpleperfKernelSymbols<'a>, WireError> {
        let size = cursor.u32()?;
        Ok(SimpleperfKernelSymbols {
            kallsyms: cursor.items(u64::from(size), 1)?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.kallsyms.len() as u32);
        encoder.bytes(self.kallsyms);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip;
    use super::*;

    #[test]
    fn round_trips() {
        let record = SimpleperfKernelSymbols {
            kallsyms: b"0 t x\n",
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| SimpleperfKernelSymbols::decode(cursor) == Ok(record),
        );
    }
}
