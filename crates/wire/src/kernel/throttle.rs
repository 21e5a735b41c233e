//! Sampling stops or goes on.

use oxperf_abi::{EventId, PerfTime};

use crate::{Cursor, Encoder, WireError};

/// THROTTLE and UNTHROTTLE: the kernel held sampling back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Throttle {
    /// The time.
    pub time: PerfTime,
    /// Event.
    pub id: EventId,
    /// The event's own id.
    pub stream_id: u64,
}

impl Throttle {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Throttle, WireError> {
        Ok(Throttle {
            time: PerfTime(cursor.u64()?),
            id: EventId(cursor.u64()?),
            stream_id: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.time.0);
        encoder.u64(self.id.0);
        encoder.u64(self.stream_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let record = Throttle {
            time: PerfTime(99),
            id: EventId(5),
            stream_id: 0x1122_3344,
        };
        round_trip(&record, Throttle::encode, |cursor| {
            Throttle::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
