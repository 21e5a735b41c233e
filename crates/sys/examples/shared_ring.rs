//! Several events of a CPU write to one ring; each sample says whose it is.

use oxperf_abi::{AttrFlags, SampleType, SoftwareId};
use oxperf_sys::{Control, CounterSpec, EventTask, RealKernel, RingPages, cpus};
use std::collections::HashSet;
use std::error::Error;
use std::time::{Duration, Instant};

const SAMPLE: usize = 16;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let open = |id| {
        CounterSpec::software(id)
            .user_only()
            .every(100_000)
            .sampling(SampleType::IDENTIFIER)
            .flagged(AttrFlags::SAMPLE_ID_ALL)
            .open(&RealKernel, EventTask::Caller)
    };
    let (first, second) = (open(SoftwareId::TaskClock)?, open(SoftwareId::CpuClock)?);
    let ring = first.map_ring(RingPages::new(8).ok_or("a power of two")?)?;
    second.send_output_to(&first)?;
    let end = Instant::now() + Duration::from_secs(20);
    while ring.pending() < 20 * SAMPLE && Instant::now() < end {}
    first.disable()?;
    second.disable()?;
    let (piece, wrapped) = ring.available();
    let bytes = [piece, wrapped].concat();
    let ids: HashSet<u64> = bytes
        .as_chunks::<16>()
        .0
        .iter()
        .map(|[.., a, b, c, d, e, f, g, h]| u64::from_ne_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        .collect();
    assert_eq!(ids, HashSet::from([first.id()?.0, second.id()?.0]));
    second.control(Control::ClearOutput)?;

    // An event of another CPU cannot share it.
    if let [one, other, ..] = cpus::online()?[..] {
        let on = |cpu| {
            let clock = CounterSpec::task_clock().user_only().on_cpu(cpu);
            clock.open(&RealKernel, EventTask::Caller)
        };
        let (one, other) = (on(one)?, on(other)?);
        let _ring = one.map_ring(RingPages::new(1).ok_or("a power of two")?)?;
        assert!(other.send_output_to(&one).is_err());
    }
    Ok(())
}
