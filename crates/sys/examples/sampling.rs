//! A counter with a period writes a record into a ring each time that it overflows.

use oxperf_abi::{RecordType, SampleType};
use oxperf_sys::{CounterSpec, EventTask, RealKernel, RingPages};
use std::error::Error;
use std::time::{Duration, Instant};

/// Ten samples a millisecond.
const PERIOD: u64 = 100_000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let clock = CounterSpec::task_clock()
        .disabled()
        .user_only()
        .every(PERIOD)
        .sampling(SampleType::IP | SampleType::PERIOD)
        .open(&RealKernel, EventTask::Caller)?;
    // A page of positions and a power of two of pages for records.
    let mut ring = clock.map_ring(RingPages::new(8).ok_or("a power of two")?)?;
    clock.enable()?;
    let end = Instant::now() + Duration::from_secs(20);
    while ring.pending() < 240 && Instant::now() < end {}
    clock.disable()?;

    // The records may go around the end of the ring: then they are in two pieces.
    let (first, second) = ring.available();
    let bytes = [first, second].concat();
    let mut rest = &bytes[..];
    let mut samples = 0;
    while let Some((kind, body, next)) = record(rest) {
        if kind == RecordType::SAMPLE {
            let words: Vec<u64> = body
                .as_chunks()
                .0
                .iter()
                .map(|word| u64::from_ne_bytes(*word))
                .collect();
            assert!(words[0] > 0, "where it was");
            assert_eq!(words[1], PERIOD);
            samples += 1;
        }
        rest = next;
    }
    assert!(samples > 0);
    // What was read is the kernel's again.
    ring.consume(bytes.len());
    assert_eq!(ring.pending(), 0);
    Ok(())
}

/// The first record: its kind, its body, and what follows it.
fn record(bytes: &[u8]) -> Option<(RecordType, &[u8], &[u8])> {
    let [a, b, c, d, _, _, low, high] = *bytes.first_chunk::<8>()?;
    let (record, rest) = bytes.split_at_checked(u16::from_ne_bytes([low, high]).into())?;
    Some((
        RecordType(u32::from_ne_bytes([a, b, c, d])),
        &record[8..],
        rest,
    ))
}
