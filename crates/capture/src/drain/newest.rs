//! The records of a ring that keeps the newest, copied at a moment that somebody chooses.

use std::io;

use oxperf_sys::{BackwardRing, Control, EventFd, Kernel};

/// Appends the whole records that a ring holds, the newest first, and returns how many bytes these are. The event that
/// owns the ring writes nothing meanwhile.
///
/// # Errors
/// The kernel's answer to pausing and resuming.
pub fn copy_newest(
    kernel: &dyn Kernel,
    owner: &EventFd,
    ring: &BackwardRing,
    into: &mut Vec<u8>,
) -> io::Result<usize> {
    kernel.control(owner, Control::PauseOutput(true))?;
    let copied = ring.copy_records(into);
    kernel.control(owner, Control::PauseOutput(false))?;
    Ok(copied)
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
        let mut records = Vec::new();
        let copied = copy_newest(&kernel, &event, &ring, &mut records).unwrap();
        assert_eq!(copied, 32);
        assert_eq!(records, [record(2), record(1)].concat());
        let calls = [
            FakeCall::MapBackwardRing(0, page),
            FakeCall::PauseOutput(0, true),
            FakeCall::PauseOutput(0, false),
        ];
        assert_eq!(kernel.calls(), calls);
    }
}
