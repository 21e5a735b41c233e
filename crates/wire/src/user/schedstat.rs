//! Scheduler statistics as `/proc/schedstat` has them: a CPU's, and those of its domains.

use crate::{Cursor, Encoder, WireError};

/// SCHEDSTAT_CPU: how a CPU was scheduled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedstatCpu {
    /// When.
    pub timestamp: u64,
    /// CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// The counters in the order of the file.
    pub counters: Vec<u64>,
}

/// SCHEDSTAT_DOMAIN: how a CPU balanced load inside one domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedstatDomain {
    /// When.
    pub timestamp: u64,
    /// CPU.
    pub cpu: u32,
    /// Version of `/proc/schedstat`.
    pub version: u16,
    /// The domain's place among the CPU's.
    pub domain: u16,
    /// The counters in the order of the file.
    pub counters: Vec<u32>,
}

/// Counters of a CPU that have 32 bits; the rest have 64.
const NARROW: usize = 6;
const CPU_COUNTERS: usize = 9;

impl SchedstatCpu {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SchedstatCpu, WireError> {
        let (timestamp, cpu, version) = (cursor.u64()?, cursor.u32()?, cursor.u16()?);
        cursor.u16()?;
        let counters = (0..CPU_COUNTERS)
            .map(|index| if index < NARROW { cursor.u32().map(u64::from) } else { cursor.u64() });
        Ok(SchedstatCpu { timestamp, cpu, version, counters: counters.collect::<Result<_, _>>()? })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.timestamp);
        encoder.u32(self.cpu);
        encoder.u16(self.version);
        encoder.u16(0);
        for (index, counter) in self.counters.iter().enumerate() {
            if index < NARROW { encoder.u32(*counter as u32) } else { encoder.u64(*counter) }
        }
    }
}

impl SchedstatDomain {
    /// How many counters a version has.
    pub fn counter_count(version: u16) -> usize {
        if version >= 17 { 45 } else { 36 }
    }

    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SchedstatDomain, WireError> {
        let (timestamp, cpu) = (cursor.u64()?, cursor.u32()?);
        let (version, domain) = (cursor.u16()?, cursor.u16()?);
        let counters = (0..Self::counter_count(version)).map(|_| cursor.u32());
        Ok(SchedstatDomain { timestamp, cpu, version, domain, counters: counters.collect::<Result<_, _>>()? })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.timestamp);
        encoder.u32(self.cpu);
        encoder.u16(self.version);
        encoder.u16(self.domain);
        self.counters.iter().for_each(|counter| encoder.u32(*counter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn a_cpu_round_trips() {
        let counters = vec![1, 2, 3, 4, 5, 6, u64::MAX, 8, 9];
        let record = SchedstatCpu { timestamp: 7, cpu: 1, version: 15, counters };
        let mut body = Encoder::new(Endian::Big);
        record.encode(&mut body);
        assert_eq!(SchedstatCpu::decode(&mut Cursor::new(body.as_bytes(), Endian::Big)), Ok(record));
    }

    #[test]
    fn a_domain_round_trips() {
        for version in [15, 17] {
            let counters = (0..SchedstatDomain::counter_count(version) as u32).collect();
            let record = SchedstatDomain { timestamp: 7, cpu: 1, version, domain: 2, counters };
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            let bytes = body.as_bytes();
            assert_eq!(SchedstatDomain::decode(&mut Cursor::new(bytes, Endian::Little)), Ok(record));
        }
    }
}
