//! What happens on a fake kernel while the test lets time pass.

use super::*;
use crate::{CounterGroup, CounterSpec, EventTask, PollSet};
use oxperf_abi::{AttrFlags, EventType, HardwareId, ReadFormat, SampleType, SoftwareId, Tid};
use std::num::NonZeroU32;
use std::time::Duration;

/// Every hardware event a thousand times a second.
fn kernel() -> FakeKernel {
    FakeKernel::new().with_rates(|event| (event.attr.kind == EventType::HARDWARE).then_some(1000))
}

fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

fn cycles() -> CounterSpec {
    CounterSpec::hardware(HardwareId::CpuCycles)
}

#[test]
fn events_count_while_they_and_their_leaders_are_on() {
    let kernel = kernel();
    let mut group = CounterGroup::open(&kernel, EventTask::Caller, &cycles().disabled()).unwrap();
    group.add(&CounterSpec::task_clock()).unwrap();
    group
        .add(&CounterSpec::software(SoftwareId::PageFaults))
        .unwrap();
    let values = || -> Vec<u64> {
        let read = group.read().unwrap();
        read.values.iter().map(|value| value.value).collect()
    };
    kernel.advance(seconds(1));
    assert_eq!(values(), [0, 0, 0]);
    group.enable().unwrap();
    kernel.advance(seconds(2));
    assert_eq!(values(), [2000, 2_000_000_000, 0]);
    group.members()[0].disable().unwrap();
    kernel.advance(seconds(1));
    assert_eq!(values(), [3000, 2_000_000_000, 0]);
    group.reset().unwrap();
    group.disable().unwrap();
    kernel.advance(seconds(1));
    let read = group.read().unwrap();
    assert_eq!(
        (read.enabled, read.values[0].value),
        (Some(3_000_000_000), 0)
    );
    assert_eq!(kernel.now().0, 5_000_000_000);
}

#[test]
fn parts_of_an_event_are_not_lost() {
    let kernel = FakeKernel::new().with_rates(|_| Some(3));
    let counter = cycles().open(&kernel, EventTask::Caller).unwrap();
    (0..1000).for_each(|_| kernel.advance(Duration::from_millis(1)));
    assert_eq!(counter.value().unwrap(), 3);
}

#[test]
fn groups_take_turns_and_tasks_do_not_share() {
    let kernel = kernel().with_pmu(FakePmu::core(2));
    let open = |spec: &CounterSpec, task| spec.open(&kernel, task).unwrap();
    let mut pair = CounterGroup::open(&kernel, EventTask::Caller, &cycles()).unwrap();
    pair.add(&cycles()).unwrap();
    assert_eq!(
        pair.add(&cycles()).unwrap_err(),
        OpenError::Invalid,
        "three events never fit"
    );
    let singles = [(); 2].map(|()| open(&cycles(), EventTask::Caller));
    let elsewhere = open(&cycles(), EventTask::Thread(Tid(9)));
    let clock = open(&CounterSpec::task_clock(), EventTask::Caller);
    kernel.advance(Duration::from_millis(12));
    // Turns begin with the pair, the first single (with the second beside it), the second alone as the pair does not fit.
    assert_eq!(pair.read().unwrap().values[0].value, 4);
    let values = singles.each_ref().map(|single| single.value().unwrap());
    assert_eq!(values, [4, 8]);
    assert_eq!(elsewhere.value().unwrap(), 12);
    assert_eq!(clock.value().unwrap(), 12_000_000);
    let read = pair.read().unwrap();
    assert_eq!(
        (read.enabled, read.running),
        (Some(12_000_000), Some(4_000_000))
    );
}

#[test]
fn an_event_without_a_counter_waits_and_a_pinned_one_fails() {
    let kernel = kernel().without_counter(0).without_counter(1);
    let waiting = cycles().open(&kernel, EventTask::Caller).unwrap();
    let pinned = cycles().pinned().open(&kernel, EventTask::Caller).unwrap();
    kernel.advance(seconds(1));
    let read = waiting.read().unwrap();
    assert_eq!(
        (read.values[0].value, read.enabled, read.running),
        (0, Some(1_000_000_000), Some(0))
    );
    assert!(matches!(pinned.read(), Err(ReadError::NotCounting)));
    pinned.disable().unwrap();
    assert!(pinned.read().is_ok(), "until it is switched");
}

#[test]
fn events_begin_with_exec_and_end_with_their_task() {
    let kernel = kernel();
    let task = EventTask::Thread(Tid(7));
    let counter = cycles().enabled_on_exec().open(&kernel, task).unwrap();
    let _ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    kernel.advance(seconds(1));
    kernel.exec();
    kernel.advance(seconds(1));
    kernel.exit(Tid(7));
    kernel.advance(seconds(1));
    assert_eq!(counter.value().unwrap(), 1000);
    let mut poll = PollSet::new();
    let slot = poll.add(&counter);
    poll.wait(Some(Duration::ZERO)).unwrap();
    assert!(poll.readiness(slot).hung_up);
}

fn sampler(period: u64) -> CounterSpec {
    cycles().every(period).sampling(SampleType::TIME)
}

/// The times of samples in a ring, and the counts of records that tell of lost ones.
fn times_and_losses(ring: &DataRing) -> (Vec<u64>, Vec<u64>) {
    let (first, second) = ring.available();
    let bytes = [first, second].concat();
    let mut rest = &bytes[..];
    let (mut times, mut losses) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let size = usize::from(u16::from_ne_bytes([rest[6], rest[7]]));
        let last = u64::from_ne_bytes(rest[size - 8..size].try_into().unwrap());
        match u32::from_ne_bytes(rest[..4].try_into().unwrap()) {
            9 => times.push(last),
            2 => losses.push(last),
            other => panic!("a record of kind {other}"),
        }
        rest = &rest[size..];
    }
    (times, losses)
}

#[test]
fn samples_come_at_overflows_in_order_of_time() {
    let kernel = kernel().with_samples(|overflow| overflow.record(&[overflow.time]));
    let open = |period| sampler(period).open(&kernel, EventTask::Caller).unwrap();
    let (slow, fast) = (open(5), open(2));
    let ring = slow.map_ring(RingPages::new(1).unwrap()).unwrap();
    fast.send_output_to(&slow).unwrap();
    kernel.advance(Duration::from_millis(10));
    let milliseconds: Vec<u64> = times_and_losses(&ring)
        .0
        .iter()
        .map(|time| time / 1_000_000)
        .collect();
    assert_eq!(milliseconds, [2, 4, 5, 6, 8, 10, 10]);
}

#[test]
fn a_refreshed_event_stops_by_itself() {
    let kernel = kernel().with_samples(|overflow| overflow.record(&[overflow.time]));
    let counter = sampler(1)
        .disabled()
        .open(&kernel, EventTask::Caller)
        .unwrap();
    let ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    counter.refresh(NonZeroU32::new(3).unwrap()).unwrap();
    kernel.advance(seconds(1));
    assert_eq!(times_and_losses(&ring).0.len(), 3);
    let counting = cycles().open(&kernel, EventTask::Caller).unwrap();
    assert!(counting.refresh(NonZeroU32::MIN).is_err());
}

#[test]
fn what_does_not_fit_is_counted_and_told() {
    let kernel = kernel().with_samples(|overflow| overflow.record(&[overflow.time]));
    let spec = sampler(1).reading(ReadFormat::LOST);
    let counter = spec.open(&kernel, EventTask::Caller).unwrap();
    let mut ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    let fits = ring.size() / 16;
    kernel.advance(Duration::from_millis(fits as u64 + 5));
    assert_eq!(counter.read().unwrap().values[0].lost, Some(5));
    ring.consume(ring.size());
    kernel.advance(Duration::from_millis(1));
    let (times, losses) = times_and_losses(&ring);
    assert_eq!((times.len(), losses), (1, vec![5]));
    counter.control(Control::PauseOutput(true)).unwrap();
    kernel.advance(Duration::from_millis(1));
    assert_eq!(counter.read().unwrap().values[0].lost, Some(6));
}

#[test]
fn a_reader_is_woken_when_its_ring_says_so_and_quiet_after_it_read() {
    let kernel = kernel().with_samples(|overflow| overflow.record(&[overflow.time]));
    let specs = [
        (sampler(1).wake_each(4), 4),
        (sampler(1).wake_each_bytes(48), 3),
        (sampler(1), RingPages::new(1).unwrap().bytes() / 32),
    ];
    for (spec, samples) in specs {
        let counter = spec.open(&kernel, EventTask::Caller).unwrap();
        let mut ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
        let mut poll = PollSet::new();
        let slot = poll.add(&counter);
        let mut is_ready = || {
            poll.wait(Some(Duration::ZERO)).unwrap();
            poll.readiness(slot).readable
        };
        kernel.advance(Duration::from_millis(samples as u64 - 1));
        assert!(!is_ready(), "{samples}");
        kernel.advance(Duration::from_millis(1));
        assert!(is_ready(), "{samples}");
        ring.consume(ring.size());
        assert!(!is_ready(), "{samples}");
        counter.disable().unwrap();
    }
}

#[test]
fn a_trace_that_nobody_reads_is_cut() {
    let page = RingPages::new(1).unwrap();
    let pages = AuxPages {
        data: page,
        aux: page,
    };
    let kernel = FakeKernel::new().with_aux_stream(vec![7], 1_000_000);
    let spec = CounterSpec::pmu(EventType(8), 0);
    let counter = spec.open(&kernel, EventTask::Caller).unwrap();
    let (mut ring, mut aux) = counter.map_aux(pages).unwrap();
    let mut step = |milliseconds| {
        kernel.advance(Duration::from_millis(milliseconds));
        let (record, _) = ring.available();
        let words = record.get(8..).unwrap_or_default().as_chunks().0;
        let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        ring.consume(ring.size());
        words
    };
    let size = aux.size() as u64;
    assert_eq!(step(4), [0, 4000, 0]);
    assert_eq!(step(4), [4000, size - 4000, 1], "a part fits");
    assert_eq!(step(4), [], "it has stopped");
    assert_eq!(aux.pending(), aux.size());
    aux.consume(aux.size());
    assert_eq!(step(1), [], "space alone does not let it go on");
    counter.enable().unwrap();
    assert_eq!(step(1), [size, 1000, 0]);
    let count = FakeTraceCount {
        written: size + 1000,
        lost: 8000 - size,
        truncated: 1,
    };
    assert_eq!(kernel.traced(0), count);
}

#[test]
fn records_carry_the_sample_id_that_was_asked_for() {
    let page = RingPages::new(1).unwrap();
    let pages = AuxPages {
        data: page,
        aux: page,
    };
    let kernel = FakeKernel::new().with_aux_stream(vec![7], 1000);
    let spec = CounterSpec::pmu(EventType(8), 0)
        .sampling(SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::IDENTIFIER)
        .flagged(AttrFlags::SAMPLE_ID_ALL)
        .on_cpu(oxperf_abi::Cpu(3));
    let counter = spec.open(&kernel, EventTask::Thread(Tid(5))).unwrap();
    let (ring, _aux) = counter.map_aux(pages).unwrap();
    kernel.advance(Duration::from_millis(4));
    let (record, _) = ring.available();
    let halves: Vec<u32> = record[32..]
        .as_chunks()
        .0
        .iter()
        .map(|half| u32::from_ne_bytes(*half))
        .collect();
    let time = u64::from_ne_bytes(record[40..48].try_into().unwrap());
    assert_eq!((halves[..2].to_vec(), time), (vec![5, 5], 0));
    assert_eq!(halves[4..6], [3, 0]);
    assert_eq!(record[56..64], 1u64.to_ne_bytes());
}

#[test]
fn breakpoints_alone_can_be_moved_and_programs_belong_to_a_place() {
    let kernel = FakeKernel::new();
    let open = |spec: CounterSpec| spec.open(&kernel, EventTask::Caller).unwrap();
    let watched = |address| CounterSpec::breakpoint(crate::WatchedAccess::Write, address, 8);
    let moved = watched(16).attr();
    open(watched(8))
        .control(Control::ModifyAttributes(&moved))
        .unwrap();
    assert_eq!(kernel.opened()[0].attr, moved);
    let clock = open(CounterSpec::task_clock());
    assert!(clock.control(Control::ModifyAttributes(&moved)).is_err());
    let (one, same, other) = (
        open(CounterSpec::tracepoint(5)),
        open(CounterSpec::tracepoint(5)),
        open(CounterSpec::tracepoint(6)),
    );
    use std::os::fd::AsFd;
    one.control(Control::SetBpf(other.as_fd())).unwrap();
    assert_eq!(same.bpf_programs().unwrap(), [BpfProgramId(1)]);
    assert_eq!(other.bpf_programs().unwrap(), []);
}

/// The kernel writes while a recorder reads in another thread: nothing is lost, torn or out of order.
#[test]
fn records_are_written_while_another_thread_reads() {
    const RECORDS: u64 = 2000;
    let kernel = FakeKernel::new();
    let counter = CounterSpec::task_clock()
        .open(&kernel, EventTask::Caller)
        .unwrap();
    let mut ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    let record = |value: u64| [&[0; 6], &16u16.to_ne_bytes()[..], &value.to_ne_bytes()].concat();
    let read = std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 0..RECORDS {
                while !kernel.write_records(0, &record(value)) {
                    std::thread::yield_now();
                }
            }
        });
        let mut read = Vec::new();
        while read.len() < RECORDS as usize {
            let (first, second) = ring.available();
            let bytes = [first, second].concat();
            let mut rest = &bytes[..];
            while let Some(size) = rest.get(6..8) {
                let size = usize::from(u16::from_ne_bytes([size[0], size[1]]));
                // Records that tell of those that did not fit come between.
                if rest[..4] == [0; 4] {
                    read.push(u64::from_ne_bytes(rest[8..16].try_into().unwrap()));
                }
                rest = &rest[size..];
            }
            ring.consume(bytes.len());
        }
        read
    });
    assert!(read.into_iter().eq(0..RECORDS));
}

/// Registers in which every counter stands at 1.
struct Ones;

impl crate::CounterRegisters for Ones {
    fn counter(&self, _number: u32) -> u64 {
        1
    }

    fn cycles(&self) -> u64 {
        0
    }
}

#[test]
fn the_page_of_a_ring_tells_of_its_counter_beside_the_records() {
    let kernel = FakeKernel::new();
    let counter = cycles().open(&kernel, EventTask::Caller).unwrap();
    let ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    let page = ring.counter_page();
    assert_eq!(page.read(&Ones), None);
    assert!(kernel.write_records(0, &[0; 8]));
    let state = crate::FakePage {
        counter: Some(0),
        offset: 41,
        width: 48,
        readable: true,
        enabled: 0,
        running: 0,
        clock: None,
    };
    kernel.publish_page(0, &state);
    assert_eq!(page.read(&Ones).unwrap().value, 42);
    assert_eq!(ring.pending(), 8, "the positions are as they were");
}
