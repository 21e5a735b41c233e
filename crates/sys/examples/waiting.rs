//! `poll(2)` waits for records: for so many samples, for so many bytes, or until the task is gone.

use oxperf_abi::{SampleType, Tid};
use oxperf_sys::{
    CounterSpec, DataRing, EventTask, PollSet, RealKernel, RingPages, Workload, WorkloadSpec,
};
use std::error::Error;
use std::time::{Duration, Instant};

const SAMPLE: usize = 16;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let sampler = || {
        CounterSpec::task_clock()
            .disabled()
            .user_only()
            .every(100_000)
            .sampling(SampleType::TIME)
    };
    let pending = pending_when_woken(&sampler().wake_each(3))?;
    assert!(pending >= 3 * SAMPLE, "{pending} bytes are not 3 samples");
    let pending = pending_when_woken(&sampler().wake_each_bytes(400))?;
    assert!(pending >= 400, "{pending} bytes");
    a_task_that_ends_hangs_up()
}

/// Works until the event wakes its reader; the bytes that wait then.
fn pending_when_woken(spec: &CounterSpec) -> Result<usize, Box<dyn Error>> {
    let counter = spec.open(&RealKernel, EventTask::Caller)?;
    let ring: DataRing = counter.map_ring(RingPages::new(1).ok_or("a power of two")?)?;
    let mut poll = PollSet::new();
    let slot = poll.add(&counter);
    counter.enable()?;
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        poll.wait(Some(Duration::ZERO))?;
        if poll.readiness(slot).readable {
            return Ok(ring.pending());
        }
    }
    Err("nobody woke us".into())
}

fn a_task_that_ends_hangs_up() -> Result<(), Box<dyn Error>> {
    let arguments = ["/bin/true".into()];
    let mut child = Workload::spawn(&WorkloadSpec {
        arguments: &arguments,
        environment: &[],
        search_path: None,
        output_to_error: false,
    })?;
    let task = EventTask::Thread(Tid(child.pid().0));
    let counter = CounterSpec::task_clock()
        .user_only()
        .open(&RealKernel, task)?;
    let _ring = counter.map_ring(RingPages::new(1).ok_or("a power of two")?)?;
    let mut poll = PollSet::new();
    let slot = poll.add(&counter);
    child.start()?;
    child.wait()?;
    poll.wait(Some(Duration::from_secs(20)))?;
    assert!(poll.readiness(slot).hung_up);
    Ok(())
}
