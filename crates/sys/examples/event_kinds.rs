//! What can be counted: events of hardware, generic ones and those of the CPU's manual; events of the kernel; tracepoints.
//! What a machine has not it refuses by name.

use oxperf_abi::{CacheId, CacheOp, CacheResult, HardwareId, SoftwareId};
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let faults = CounterSpec::software(SoftwareId::PageFaults)
        .user_only()
        .open(&RealKernel, EventTask::Caller)?;
    let pages = vec![1u8; 64 << 20];
    black_box(&pages);
    assert!(
        faults.value()? > 0,
        "new memory is not there until it is touched"
    );

    // A virtual machine often has no counters. The answer says so; it is none of rights or of a broken request.
    let of_hardware = [
        CounterSpec::hardware(HardwareId::Instructions),
        CounterSpec::cache(CacheId::L1d, CacheOp::Read, CacheResult::Miss),
        CounterSpec::raw(0xc0),
    ];
    for spec in of_hardware {
        match spec.user_only().open(&RealKernel, EventTask::Caller) {
            Ok(counter) => drop(counter.value()?),
            Err(OpenError::NoSuchEvent | OpenError::Unsupported | OpenError::NoDevice) => {}
            Err(other) => return Err(other.into()),
        }
    }
    let unknown = CounterSpec::task_clock()
        .user_only()
        .with(|attr| attr.config = 0xffff);
    let refused = unknown.open(&RealKernel, EventTask::Caller);
    assert!(
        matches!(refused, Err(OpenError::NoSuchEvent)),
        "{refused:?}"
    );
    Ok(())
}
