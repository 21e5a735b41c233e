//! The values of one counter.

use oxperf_abi::EventId;

use crate::{Cursor, Encoder, WireError};

/// STAT: what an event counted on a CPU or in a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Event.
    pub id: EventId,
    /// CPU.
    pub cpu: u32,
    /// Place of the thread in the thread map.
    pub thread: u32,
    /// Count.
    pub value: u64,
    /// Nanoseconds that it was enabled.
    pub enabled: u64,
    /// Nanoseconds that it counted.
    pub running: u64,
}

impl Stat {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<Stat, WireError> {
        Ok(Stat {
            id: EventId(cursor.u64()?),
            cpu: cursor.u32()?,
            thread: cursor.u32()?,
            value: cursor.u64()?,
            enabled: cursor.u64()?,
            running: cursor.u64()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.id.0);
        encoder.u32(self.cpu);
        encoder.u32(self.thread);
        [self.value, self.enabled, self.running]
            .into_iter()
            .for_each(|word| encoder.u64(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let record = Stat {
            id: EventId(9),
            cpu: 1,
            thread: 2,
            value: 3,
            enabled: 4,
            running: 5,
        };
        let mut body = Encoder::new(Endian::Little);
        record.encode(&mut body);
        assert_eq!(
            Stat::decode(&mut Cursor::new(body.as_bytes(), Endian::Little)),
            Ok(record)
        );
    }
}
