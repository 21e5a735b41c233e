//! A counter can leave user mode, the kernel or the hypervisor out. What counts the kernel needs rights, where
//! `kernel.perf_event_paranoid` is 2 or more.

use oxperf_abi::SoftwareId;
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let faults = || CounterSpec::software(SoftwareId::PageFaults);
    let user = faults().user_only().open(&RealKernel, EventTask::Caller)?;
    let kernel = faults().kernel_only().open(&RealKernel, EventTask::Caller);
    let memory = vec![1u8; 64 << 20];
    black_box(&memory);
    assert!(
        user.value()? > 0,
        "this program touches its memory in user mode"
    );
    match kernel {
        Ok(kernel) => assert!(kernel.value()? < user.value()?),
        Err(error) => assert_eq!(error, OpenError::AccessDenied),
    }
    Ok(())
}
