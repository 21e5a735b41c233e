//! A ring that the kernel overwrites keeps the newest records: a flight recorder, read when something happened.

use oxperf_abi::SampleType;
use oxperf_sys::{Control, CounterSpec, EventTask, RealKernel, RingPages};
use std::error::Error;
use std::time::{Duration, Instant};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let counter = CounterSpec::task_clock()
        .user_only()
        .every(100_000)
        .sampling(SampleType::TIME)
        .overwriting()
        .open(&RealKernel, EventTask::Caller)?;
    let ring = counter.map_backward_ring(RingPages::new(1).ok_or("a power of two")?)?;
    let mut records = Vec::new();
    let end = Instant::now() + Duration::from_secs(20);
    while records.is_empty() && Instant::now() < end {
        let pause = Instant::now() + Duration::from_millis(5);
        while Instant::now() < pause {}
        // Nothing is written while the output is paused.
        counter.control(Control::PauseOutput(true))?;
        ring.copy_records(&mut records);
        counter.control(Control::PauseOutput(false))?;
    }
    let times: Vec<u64> = records
        .as_chunks::<16>()
        .0
        .iter()
        .map(|[.., a, b, c, d, e, f, g, h]| u64::from_ne_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        .collect();
    assert!(!times.is_empty());
    assert!(
        times.is_sorted_by(|newer, older| newer > older),
        "newest first"
    );
    Ok(())
}
