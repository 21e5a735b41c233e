//! Parameters for decoding AUX data.

use crate::{Cursor, Encoder, WireError, Words};

/// AUXTRACE_INFO: the kind of trace and what its decoder has to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxtraceInfo<'a> {
    /// Kind of trace: 1 Intel PT, 2 Intel BTS, 3 CoreSight ETM, 4 Arm SPE.
    pub kind: u32,
    /// Words whose meaning is the kind's.
    pub words: Words<'a>,
}

impl<'a> AuxtraceInfo<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<AuxtraceInfo<'a>, WireError> {
        let kind = cursor.u32()?;
        cursor.u32()?;
        let endian = cursor.endian();
        Ok(AuxtraceInfo {
            kind,
            words: Words::new(cursor.rest(), endian),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.kind);
        encoder.u32(0);
        self.words.iter().for_each(|word| encoder.u64(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let words = [0, 0, 0, 0, 0, 0, 0, 5];
        let record = AuxtraceInfo {
            kind: 1,
            words: Words::new(&words, Endian::Big),
        };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        assert_eq!(
            AuxtraceInfo::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)),
            Ok(record)
        );
    }
}
