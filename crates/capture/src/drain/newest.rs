//! The records of a ring that keeps the newest, copied at a moment that somebody chooses.

use std::io;

use oxperf_sys::{BackwardRing, Control, EventFd, Kernel};

/// Bytes of a record's header, the last two of which are the record's size.
const HEADER: usize = 8;

/// A ring that keeps the newest records, with what was copied of it.
#[derive(Debug)]
pub struct NewestRing {
    ring: BackwardRing,
    /// How far it was copied.
    seen: u64,
}

impl NewestRing {
    /// Takes a ring of which nothing was copied.
    pub fn new(ring: BackwardRing) -> NewestRing {
        NewestRing { ring, seen: 0 }
    }

    /// Appends the whole records that the ring holds and that were not copied before, the oldest first, and returns how many
    /// bytes these are. The event that owns the ring writes nothing meanwhile. What was overwritten is no loss: the user
    /// wanted it so.
    ///
    /// # Errors
    /// The kernel's answer to pausing and resuming.
    pub fn copy(
        &mut self,
        kernel: &dyn Kernel,
        owner: &EventFd,
        into: &mut Vec<u8>,
    ) -> io::Result<usize> {
        kernel.control(owner, Control::PauseOutput(true))?;
        let mut newest_first = Vec::new();
        let copied = self
            .ring
            .copy_new_records(&mut self.seen, &mut newest_first);
        kernel.control(owner, Control::PauseOutput(false))?;
        append_reversed(&newest_first, into);
        Ok(copied)
    }
}

/// Appends whole records, the last one first.
fn append_reversed(records: &[u8], into: &mut Vec<u8>) {
    let mut pieces = Vec::new();
    let mut rest = records;
    while let Some((record, behind)) = split_record(rest) {
        pieces.push(record);
        rest = behind;
    }
    into.reserve(records.len());
    for record in pieces.into_iter().rev() {
        into.extend_from_slice(record);
    }
}

/// The first record and what is behind it; `None` at the end.
fn split_record(records: &[u8]) -> Option<(&[u8], &[u8])> {
    let &[.., low, high] = records.first_chunk::<HEADER>()?;
    let size = usize::from(u16::from_ne_bytes([low, high]));
    records.split_at_checked(size).filter(|_| size >= HEADER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, Misc, RecordType};
    use oxperf_sys::{EventTask, FakeCall, FakeKernel, OpenRequest, RingPages};
    use oxperf_wire::{Encoder, Endian};

    fn record(value: u64) -> Vec<u8> {
        let mut encoder = Encoder::new(Endian::NATIVE);
        encoder.record(RecordType::SAMPLE, Misc(0), |body| body.u64(value));
        encoder.into_bytes()
    }

    #[test]
    fn the_ring_is_still_while_it_is_copied() {
        let kernel = FakeKernel::new();
        let attr = EventAttr::default();
        let request = OpenRequest::new(&attr, EventTask::Caller);
        let event = kernel.open(&request).unwrap();
        let page = RingPages::new(1).unwrap();
        let ring = kernel.map_backward_ring(&event, page).unwrap();
        for value in 1..=2 {
            assert!(kernel.write_records(0, &record(value)));
        }
        let mut ring = NewestRing::new(ring);
        let mut records = Vec::new();
        assert_eq!(ring.copy(&kernel, &event, &mut records).unwrap(), 32);
        assert_eq!(records, [record(1), record(2)].concat());
        let calls = [
            FakeCall::MapBackwardRing(0, page),
            FakeCall::PauseOutput(0, true),
            FakeCall::PauseOutput(0, false),
        ];
        assert_eq!(kernel.calls(), calls);
    }
}
