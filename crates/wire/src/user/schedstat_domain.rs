//! Load balancing of a CPU inside one domain, as `/proc/schedstat` has it.

use crate::{Cursor, Encoder, WireError};

/// SCHEDSTAT_DOMAIN: how a CPU balanced load inside one domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedstatDomain {
    /// The time.
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

impl SchedstatDomain {
    /// Number of counters that a version has.
    pub fn counter_count(version: u16) -> usize {
        if version >= 17 { 45 } else { 36 }
    }

    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SchedstatDomain, WireError> {
        let (timestamp, cpu) = (cursor.u64()?, cursor.u32()?);
        let (version, domain) = (cursor.u16()?, cursor.u16()?);
        let counters = (0..Self::counter_count(version)).map(|_| cursor.u32());
        Ok(SchedstatDomain {
            timestamp,
            cpu,
            version,
            domain,
            counters: counters.collect::<Result<_, _>>()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.timestamp);
        encoder.u32(self.cpu);
        encoder.u16(self.version);
        encoder.u16(self.domain);
        self.counters
            .iter()
            .for_each(|counter| encoder.u32(*counter));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn every_version_round_trips() {
        for version in [15, 17] {
            let counters = (0..SchedstatDomain::counter_count(version) as u32).collect();
            let record = SchedstatDomain {
                timestamp: 7,
                cpu: 1,
                version,
                domain: 2,
                counters,
            };
            let mut body = Encoder::new(Endian::Little);
            record.encode(&mut body);
            let bytes = body.as_bytes();
            assert_eq!(
                SchedstatDomain::decode(&mut Cursor::new(bytes, Endian::Little)),
                Ok(record)
            );
        }
    }
}
