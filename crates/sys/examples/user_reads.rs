//! A thread can read its own counters without a call of the kernel, where CPU and kernel allow it; elsewhere the kernel reads.

use oxperf_abi::HardwareId;
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel, SelfCount};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A software event has no hardware counter: the kernel is asked, and nobody has to care.
    let clock = CounterSpec::task_clock()
        .user_only()
        .open(&RealKernel, EventTask::Caller)?
        .read_in_user_mode()?;
    (0..100_000u32).for_each(|step| {
        black_box(step);
    });
    let read = clock.read()?;
    assert!(matches!(read, SelfCount::Kernel(_)));
    assert!(read.count().value > 0);

    let instructions = CounterSpec::hardware(HardwareId::Instructions).user_only();
    match instructions.open(&RealKernel, EventTask::Caller) {
        Ok(counter) => {
            let counter = counter.read_in_user_mode()?;
            let before = counter.read()?.count().value;
            (0..100_000u32).for_each(|step| {
                black_box(step);
            });
            let own = counter.read()?.count().value;
            assert!(own >= before + 100_000, "{before} and {own}");
            assert!(
                counter.counter().value()? >= own,
                "the kernel says the same"
            );
        }
        Err(OpenError::NoSuchEvent | OpenError::Unsupported | OpenError::NoDevice) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
