//! A message of the recorder's.

use oxperf_abi::PerfTime;

use crate::{Cursor, Encoder, WireError};

/// A message about a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Debug<'a> {
    /// The time.
    pub time: PerfTime,
    /// The text.
    pub text: &'a [u8],
}

impl<'a> Debug<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Debug<'a>, WireError> {
        Ok(Debug {
            time: PerfTime(cursor.u64()?),
            text: cursor.c_string()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.time.0);
        encoder.c_string_padded(self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round_trip;
    use super::*;

    #[test]
    fn round_trips() {
        let record = Debug {
            time: PerfTime(5),
            text: b"lost 3 samples",
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| Debug::decode(cursor) == Ok(record),
        );
    }
}
