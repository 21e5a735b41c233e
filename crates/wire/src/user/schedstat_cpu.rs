//! Scheduler statistics of a CPU, as `/proc/schedstat` has them.

use crate::{Cursor, Encoder, WireError};

/// SCHEDSTAT_CPU: how a CPU was scheduled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedstatCpu {
    /// The time.
    pub timestamp: u64,
    /// CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// The counters in the order of the file.
    pub counters: Vec<u64>,
}

/// Counters of a CPU that have 32 bits; the rest have 64.
const NARROW: usize = 6;
const CPU_COUNTERS: usize = 9;

impl SchedstatCpu {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SchedstatCpu, WireError> {
        let (timestamp, cpu, version) = (cursor.u64()?, cursor.u32()?, cursor.u16()?);
        cursor.u16()?;
        let counters = (0..CPU_COUNTERS).map(|index| {
            if index < NARROW {
                cursor.u32().map(u64::from)
            } else {
                cursor.u64()
            }
        });
        Ok(SchedstatCpu {
            timestamp,
            cpu,
            version,
            counters: counters.collect::<Result<_, _>>()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.timestamp);
        encoder.u32(self.cpu);
        encoder.u16(self.version);
        encoder.u16(0);
        for (index, counter) in self.counters.iter().enumerate() {
            if index < NARROW {
                encoder.u32(*counter as u32)
            } else {
                encoder.u64(*counter)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let counters = vec![1, 2, 3, 4, 5, 6, u64::MAX, 8, 9];
        let record = SchedstatCpu {
            timestamp: 7,
            cpu: 1,
            version: 15,
            counters,
        };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        assert_eq!(
            SchedstatCpu::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)),
            Ok(record)
        );
    }
}
