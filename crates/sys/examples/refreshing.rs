//! A counter that samples can be enabled for a number of overflows; then it stops by itself.

use oxperf_abi::SampleType;
use oxperf_sys::{CounterSpec, EventTask, RealKernel, RingPages};
use std::error::Error;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

const SAMPLE: usize = 16;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let sampler = CounterSpec::task_clock()
        .disabled()
        .user_only()
        .every(200_000)
        .sampling(SampleType::TIME);
    let counter = sampler.open(&RealKernel, EventTask::Caller)?;
    let ring = counter.map_ring(RingPages::new(1).ok_or("a power of two")?)?;
    for (so_many, in_all) in [(2, 2), (6, 2 + 6)] {
        counter.refresh(NonZeroU32::new(so_many).ok_or("not 0")?)?;
        let end = Instant::now() + Duration::from_secs(20);
        while ring.pending() < in_all * SAMPLE && Instant::now() < end {}
        let end = Instant::now() + Duration::from_millis(5);
        while Instant::now() < end {}
        assert_eq!(ring.pending(), in_all * SAMPLE, "it has stopped");
    }

    // A counter that does not sample never overflows, and an inherited one has many owners of its overflows.
    let counting = CounterSpec::task_clock().user_only();
    for spec in [counting, sampler.inherited()] {
        let counter = spec.open(&RealKernel, EventTask::Caller)?;
        assert!(counter.refresh(NonZeroU32::MIN).is_err());
    }
    Ok(())
}
