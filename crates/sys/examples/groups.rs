//! The events of a group count at the same times, so that their counts can be compared: one read gives all of them.

use oxperf_abi::SoftwareId;
use oxperf_sys::{CounterGroup, CounterSpec, EventTask, RealKernel};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let leader = CounterSpec::task_clock().disabled().user_only();
    let mut group = CounterGroup::open(&RealKernel, EventTask::Caller, &leader)?;
    let faults = group.add(&CounterSpec::software(SoftwareId::PageFaults).user_only())?;
    touch(64 << 20);
    let before = group.read()?;
    assert_eq!(
        before.values[faults].value, 0,
        "the leader is off, so nothing counts"
    );

    group.enable()?;
    touch(64 << 20);
    group.disable()?;
    let read = group.read()?;
    assert_eq!(read.values.len(), 2);
    assert_eq!(read.values[0].id, Some(group.leader().id()?));
    assert_eq!(read.values[faults].id, Some(group.members()[0].id()?));
    assert!(read.values.iter().all(|value| value.value > 0));
    assert!(read.estimate(faults).is_some());

    // A read of any member is one of the whole group.
    assert_eq!(group.members()[0].read()?.values.len(), 2);
    group.reset()?;
    assert!(group.read()?.values.iter().all(|value| value.value == 0));
    Ok(())
}

/// Touches memory that nobody had: each piece is larger than any that the allocator keeps.
fn touch(bytes: usize) {
    let memory = vec![1u8; bytes];
    black_box(&memory);
}
