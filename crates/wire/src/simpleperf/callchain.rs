//! A call chain that the recorder unwound or completed.

use oxperf_abi::{PerfTime, Pid, Tid};

use crate::{Cursor, Encoder, WireError, Words};

/// The chain of the sample of a thread at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Callchain<'a> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// The origin of the chain: 0 unwound while recording, 1 unwound afterwards, 2 joined with other chains.
    pub kind: u64,
    /// The sample's time.
    pub time: PerfTime,
    /// Addresses, innermost first.
    pub addresses: Words<'a>,
    /// The stack pointer of each.
    pub stack_pointers: Words<'a>,
}

impl<'a> Callchain<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<Callchain<'a>, WireError> {
        let (pid, tid) = (Pid(cursor.i32()?), Tid(cursor.i32()?));
        let (kind, time, count) = (cursor.u64()?, PerfTime(cursor.u64()?), cursor.u64()?);
        let mut list = || Ok(Words::new(cursor.items(count, 8)?, cursor.endian()));
        Ok(Callchain {
            pid,
            tid,
            kind,
            time,
            addresses: list()?,
            stack_pointers: list()?,
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.i32(self.tid.0);
        [self.kind, self.time.0, self.addresses.len() as u64]
            .into_iter()
            .for_each(|word| encoder.u64(word));
        self.addresses
            .iter()
            .chain(self.stack_pointers.iter())
            .for_each(|word| encoder.u64(word));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{round_trip, words};
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips() {
        let (ips, sps) = (words(&[1, 2]), words(&[3, 4]));
        let list = |bytes| Words::new(bytes, Endian::Little);
        let (addresses, stack_pointers) = (list(&ips), list(&sps));
        let record = Callchain {
            pid: Pid(1),
            tid: Tid(2),
            kind: 1,
            time: PerfTime(9),
            addresses,
            stack_pointers,
        };
        round_trip(
            |encoder| record.encode(encoder),
            |cursor| Callchain::decode(cursor) == Ok(record),
        );
    }
}
