//! The times beside a count say for which share of the time it was counted, and scale it to the whole.

use oxperf_abi::{EventType, HardwareId};
use oxperf_sys::{CounterSpec, Estimate, EventTask, FakeKernel, FakePmu, RealKernel};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Software events have a counter whenever they are enabled.
    let clock = CounterSpec::task_clock()
        .user_only()
        .open(&RealKernel, EventTask::Caller)?;
    (0..100_000u32).for_each(|step| {
        black_box(step);
    });
    let read = clock.read()?;
    assert_eq!(read.enabled, read.running);
    assert_eq!(
        read.estimate(0),
        Some(Estimate::Whole(read.values[0].value))
    );

    // A core with one counter, which two events share.
    let kernel = FakeKernel::new()
        .with_pmu(FakePmu::core(1))
        .with_rates(|event| (event.attr.kind == EventType::HARDWARE).then_some(1000));
    let open = |id| CounterSpec::hardware(id).open(&kernel, EventTask::Caller);
    let shared = [
        open(HardwareId::CpuCycles)?,
        open(HardwareId::Instructions)?,
    ];
    kernel.advance(Duration::from_secs(2));
    for counter in &shared {
        let read = counter.read()?;
        assert_eq!(read.values[0].value, 1000, "counted for a half of the time");
        let scaled = Estimate::Scaled {
            value: 2000,
            share: 0.5,
        };
        assert_eq!(read.estimate(0), Some(scaled));
    }

    // An interval is the difference of two reads, and scaled by its own times: one event has the counter alone now.
    let before = shared[0].read()?;
    shared[1].disable()?;
    kernel.advance(Duration::from_secs(1));
    let interval = shared[0].read()?.since(&before);
    assert_eq!(interval.estimate(0), Some(Estimate::Whole(1000)));
    Ok(())
}
