//! Metadata that a BPF program holds.

use crate::{Cursor, Encoder, WireError};

/// BPF_METADATA: a program's variables whose names mark them as description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BpfMetadata<'a> {
    /// The program, 511 bytes at most.
    pub program: &'a [u8],
    /// Names (63 bytes at most) and values (255 bytes at most).
    pub entries: Vec<(&'a [u8], &'a [u8])>,
}

const PROGRAM: usize = 512;
const KEY: usize = 64;
const VALUE: usize = 256;

impl<'a> BpfMetadata<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<BpfMetadata<'a>, WireError> {
        let program = text(cursor.bytes(PROGRAM)?);
        let count = cursor.u64()?;
        let table = cursor.items(count, KEY + VALUE)?;
        let entries = table
            .chunks_exact(KEY + VALUE)
            .map(|entry| entry.split_at(KEY));
        Ok(BpfMetadata {
            program,
            entries: entries
                .map(|(key, value)| (text(key), text(value)))
                .collect(),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        field::<PROGRAM>(self.program, encoder);
        encoder.u64(self.entries.len() as u64);
        for (key, value) in &self.entries {
            field::<KEY>(key, encoder);
            field::<VALUE>(value, encoder);
        }
    }
}

fn text(field: &[u8]) -> &[u8] {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    &field[..end]
}

/// Cuts so that a NUL remains.
fn field<const SIZE: usize>(text: &[u8], encoder: &mut Encoder) {
    let mut bytes = [0; SIZE];
    let len = text.len().min(SIZE - 1);
    bytes[..len].copy_from_slice(&text[..len]);
    encoder.bytes(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = BpfMetadata {
            program: b"prog",
            entries: vec![(b"k", b"v"), (b"", b"w")],
        };
        let mut body = Encoder::new(Endian::Little);
        record.encode(&mut body);
        let bytes = body.as_bytes();
        assert_eq!(
            BpfMetadata::decode(&mut Cursor::new(bytes, Endian::Little)),
            Ok(record)
        );
        assert!(BpfMetadata::decode(&mut Cursor::new(&bytes[..600], Endian::Little)).is_err());
    }
}
