//! The end of a round of counts.

use oxperf_abi::PerfTime;

use crate::{Cursor, Encoder, WireError};

/// STAT_ROUND: every counter of a round has given its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StatRound {
    /// 0 an interval, 1 the end.
    pub kind: u64,
    /// The time.
    pub time: PerfTime,
}

impl StatRound {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<StatRound, WireError> {
        Ok(StatRound {
            kind: cursor.u64()?,
            time: PerfTime(cursor.u64()?),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.kind);
        encoder.u64(self.time.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = StatRound {
            kind: 1,
            time: PerfTime(99),
        };
        let mut body = Encoder::new(Endian::Little);
        record.encode(&mut body);
        assert_eq!(
            StatRound::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
            Ok(record)
        );
    }
}
