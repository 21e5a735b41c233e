//! Beside samples the ring tells what is needed to understand them: mappings of code, names, threads that come and go. They are
//! good when the process is gone.

use oxperf_abi::{AttrFlags, RecordType, SoftwareId, Tid};
use oxperf_sys::{CounterSpec, EventTask, RealKernel, RingPages, Workload, WorkloadSpec};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let arguments = ["/bin/sh", "-c", "/bin/true; exit 0"].map(Into::into);
    let mut child = Workload::spawn(&WorkloadSpec {
        arguments: &arguments,
        environment: &[],
        search_path: None,
        output_to_error: false,
    })?;
    let records = AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK;
    // A dummy counts nothing and never overflows.
    let tracker = CounterSpec::software(SoftwareId::Dummy)
        .user_only()
        .flagged(records)
        .open(&RealKernel, EventTask::Thread(Tid(child.pid().0)))?;
    let ring = tracker.map_ring(RingPages::new(16).ok_or("a power of two")?)?;
    child.start()?;
    assert!(child.wait()?.success());

    let (first, second) = ring.available();
    let records = records_of(&[first, second].concat());
    let mapped = |name: &[u8]| {
        let is_of = |(kind, body): &(RecordType, Vec<u8>)| {
            *kind == RecordType::MMAP && body.windows(name.len()).any(|part| part == name)
        };
        records.iter().any(is_of)
    };
    assert!(mapped(b"/ld-") || mapped(b"/sh") || mapped(b"/dash") || mapped(b"/busybox"));
    let has = |kind| records.iter().any(|(found, _)| *found == kind);
    assert!(has(RecordType::COMM), "the new program has a name");
    assert!(has(RecordType::FORK) && has(RecordType::EXIT));
    assert!(!has(RecordType::SAMPLE));
    Ok(())
}

/// The records in whole records: their kinds and bodies.
fn records_of(mut bytes: &[u8]) -> Vec<(RecordType, Vec<u8>)> {
    let mut records = Vec::new();
    while let Some(&[a, b, c, d, _, _, low, high]) = bytes.first_chunk::<8>() {
        let size = usize::from(u16::from_ne_bytes([low, high]));
        let kind = RecordType(u32::from_ne_bytes([a, b, c, d]));
        records.push((kind, bytes.get(8..size).unwrap_or_default().to_vec()));
        bytes = bytes.get(size..).unwrap_or_default();
    }
    records
}
