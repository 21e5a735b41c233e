//! A counter is a descriptor: opened, switched on and off, set to zero, read as a number of 64 bits, closed.

use oxperf_sys::{CounterSpec, EventTask, RealKernel};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let clock = CounterSpec::task_clock()
        .disabled()
        .user_only()
        .open(&RealKernel, EventTask::Caller)?;
    work();
    assert_eq!(clock.value()?, 0, "it is off until it is enabled");

    clock.enable()?;
    work();
    clock.disable()?;
    let counted = clock.value()?;
    assert!(counted > 0, "nanoseconds of work");

    work();
    assert_eq!(clock.value()?, counted, "it is off and keeps its count");
    clock.reset()?;
    assert_eq!(clock.value()?, 0);
    Ok(())
}

fn work() {
    (0..100_000u32).for_each(|step| {
        black_box(step);
    });
}
