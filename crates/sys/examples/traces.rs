//! Hardware that traces writes into an area beside the ring; records say which bytes came. Here the kernel is a made-up one,
//! so that it runs anywhere.

use oxperf_abi::{EventType, RecordType};
use oxperf_sys::{AuxPages, CounterSpec, EventTask, FakeKernel, RingPages};
use std::error::Error;
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let page = RingPages::new(1).ok_or("a power of two")?;
    let pages = AuxPages {
        data: page,
        aux: page,
    };
    // A tracer writes these bytes again and again, 1000 a second.
    let kernel = FakeKernel::new().with_aux_stream((0..=255).collect(), 1000);
    let tracer = CounterSpec::pmu(EventType(8), 0).open(&kernel, EventTask::Caller)?;
    let (mut ring, mut area) = tracer.map_aux(pages)?;
    kernel.advance(Duration::from_millis(4));
    assert_eq!(area.available().0, [0, 1, 2, 3]);
    let (record, _) = ring.available();
    assert_eq!(record[..4], RecordType::AUX.0.to_ne_bytes());
    let words: Vec<u64> = record[8..]
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_ne_bytes(*word))
        .collect();
    assert_eq!(words, [0, 4, 0], "from position 0 on 4 bytes, nothing cut");
    ring.consume(record.len());
    area.consume(4);
    assert_eq!(area.position(), 4);

    // An area that nobody reads fills up, and a snapshot of the newest trace never does.
    kernel.advance(Duration::from_secs(60));
    assert_eq!(area.pending(), area.size());
    let recorder = CounterSpec::pmu(EventType(8), 0).open(&kernel, EventTask::Caller)?;
    let (_ring, newest) = recorder.map_aux_snapshot(pages)?;
    kernel.advance(Duration::from_secs(60));
    recorder.disable()?;
    let mut trace = Vec::new();
    let newest_byte = (newest.position() as usize + newest.size() - 1) % newest.size();
    newest.copy(newest_byte..newest_byte + 1, &mut trace);
    assert_eq!(trace, [(60_000 - 1) as u8]);
    Ok(())
}
