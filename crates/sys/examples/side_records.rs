//! Beside samples the ring tells what is needed to understand them: mappings of code, names, threads that come and go.

use oxperf_abi::{AttrFlags, RecordType, SoftwareId};
use oxperf_sys::{CounterSpec, EventTask, RealKernel, RingPages};
use std::error::Error;
use std::thread;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let records = AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK;
    let tracker = CounterSpec::software(SoftwareId::Dummy)
        .user_only()
        .flagged(records)
        .open(&RealKernel, EventTask::Caller)?;
    let ring = tracker.map_ring(RingPages::new(4).ok_or("a power of two")?)?;
    // A thread is a fork, and has a name of its own.
    thread::Builder::new()
        .name("named".to_owned())
        .spawn(|| ())?
        .join()
        .map_err(|_| "the thread panicked")?;

    let (first, second) = ring.available();
    let kinds = kinds(&[first, second].concat());
    assert!(kinds.contains(&RecordType::FORK), "{kinds:?}");
    assert!(
        !kinds.contains(&RecordType::SAMPLE),
        "a dummy never overflows"
    );
    Ok(())
}

/// The kinds of records in whole records.
fn kinds(mut bytes: &[u8]) -> Vec<RecordType> {
    let mut kinds = Vec::new();
    while let Some(&[a, b, c, d, _, _, low, high]) = bytes.first_chunk::<8>() {
        kinds.push(RecordType(u32::from_ne_bytes([a, b, c, d])));
        bytes = bytes
            .get(u16::from_ne_bytes([low, high]).into()..)
            .unwrap_or_default();
    }
    kinds
}
