//! Against the running kernel, for all that the fake cannot prove. Each test says so when the machine cannot run it.

// A test that cannot run says so.
#![allow(clippy::print_stderr)]

use oxperf_abi::{AttrFlags, EventAttr, EventType, ReadFormat, RecordType, SampleType, SoftwareId};
use oxperf_sys::{
    AuxPages, Control, ControlScope, Counter, CounterGroup, CounterPage, CounterRegisters,
    CounterSpec, CpuRegisters, EventFd, EventTask, Kernel, OpenRequest, PollSet, ReadError,
    RealKernel, RingError, RingPages,
};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Opens an event, or says why the test cannot run here.
fn probe(request: &OpenRequest<'_>) -> Option<EventFd> {
    RealKernel
        .open(request)
        .inspect_err(|error| eprintln!("SKIPPED: this machine refuses the event: {error}"))
        .ok()
}

fn software(id: SoftwareId) -> EventAttr {
    let flags = AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
    EventAttr {
        kind: EventType::SOFTWARE,
        config: id as u64,
        flags,
        ..EventAttr::default()
    }
}

fn busy(time: Duration) -> u64 {
    let start = Instant::now();
    let mut sum = 0u64;
    while start.elapsed() < time {
        sum = black_box(sum.wrapping_add(1));
    }
    sum
}

/// The types of the records in a drained stretch.
fn record_types(bytes: &[u8]) -> Vec<u32> {
    let mut types = Vec::new();
    let mut rest = bytes;
    while let Some(header) = rest.first_chunk::<8>() {
        types.push(u32::from_ne_bytes([
            header[0], header[1], header[2], header[3],
        ]));
        let size = u16::from_ne_bytes([header[6], header[7]]) as usize;
        assert!(
            size >= 8 && size.is_multiple_of(8) && size <= rest.len(),
            "record of {size} bytes in {}",
            rest.len()
        );
        rest = &rest[size..];
    }
    assert!(rest.is_empty());
    types
}

#[test]
fn samples_arrive_in_the_ring() {
    let mut attr = software(SoftwareId::CpuClock);
    attr.sample_period = 100_000;
    attr.sample_type = SampleType::IP | SampleType::TID | SampleType::TIME;
    attr.wakeup_events = 1;
    let Some(event) = probe(&OpenRequest::new(&attr, EventTask::Caller)) else {
        return;
    };
    let mut ring = RealKernel
        .map_ring(&event, RingPages::new(1).unwrap())
        .unwrap();
    let mut set = PollSet::new();
    let slot = set.add(&event);
    RealKernel
        .control(&event, Control::Enable(ControlScope::Event))
        .unwrap();

    // One page holds about 128 of these samples, so the ring soon wraps; on a busy machine it takes longer.
    let (mut samples, mut wrapped) = (0, false);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !wrapped && Instant::now() < deadline {
        busy(Duration::from_millis(5));
        let (first, second) = ring.available();
        wrapped |= !second.is_empty();
        let types = record_types(&[first, second].concat());
        samples += types
            .iter()
            .filter(|kind| **kind == RecordType::SAMPLE.0)
            .count();
        let length = first.len() + second.len();
        ring.consume(length);
    }
    RealKernel
        .control(&event, Control::Disable(ControlScope::Event))
        .unwrap();
    set.wait(Some(Duration::ZERO)).unwrap();
    assert!(!set.readiness(slot).closed);
    assert!(
        wrapped && samples > 100,
        "{samples} samples, wrapped: {wrapped}"
    );
}

#[test]
fn a_group_is_read_at_once() {
    let format = ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_ENABLED;
    let clock = EventAttr {
        read_format: format,
        ..software(SoftwareId::TaskClock)
    };
    let Some(leader) = probe(&OpenRequest::new(&clock, EventTask::Caller)) else {
        return;
    };
    let mut dummy = EventAttr {
        read_format: format,
        ..software(SoftwareId::Dummy)
    };
    dummy.flags.set(AttrFlags::DISABLED, false);
    let request = OpenRequest {
        group: Some(&leader),
        ..OpenRequest::new(&dummy, EventTask::Caller)
    };
    let members: Vec<EventFd> = (0..20)
        .map(|_| RealKernel.open(&request).unwrap())
        .collect();
    RealKernel
        .control(&leader, Control::Enable(ControlScope::Group))
        .unwrap();
    busy(Duration::from_millis(5));
    let read = RealKernel.read(&leader).unwrap();
    assert_eq!(read.values.len(), 21);
    assert_eq!(read.values[0].id, Some(RealKernel.id(&leader).unwrap()));
    assert_eq!(
        read.values[20].id,
        Some(RealKernel.id(&members[19]).unwrap())
    );
    assert!(read.values[0].value > 10_000, "{read:?}");
}

#[test]
fn the_page_offers_a_clock_on_x86() {
    let attr = software(SoftwareId::Dummy);
    let Some(event) = probe(&OpenRequest::new(&attr, EventTask::Caller)) else {
        return;
    };
    let ring = RealKernel
        .map_ring(&event, RingPages::new(1).unwrap())
        .unwrap();
    match ring.time_conversion() {
        Some(conversion) => assert!(
            conversion.mult > 0 && conversion.shift <= 63,
            "{conversion:?}"
        ),
        None => eprintln!("SKIPPED: this machine's cycle counter is not perf's clock"),
    }
}

#[test]
fn a_backward_ring_keeps_the_newest_samples() {
    let mut attr = software(SoftwareId::CpuClock);
    attr.sample_period = 100_000;
    attr.sample_type = SampleType::TIME;
    attr.flags |= AttrFlags::WRITE_BACKWARD;
    let Some(event) = probe(&OpenRequest::new(&attr, EventTask::Caller)) else {
        return;
    };
    let ring = RealKernel
        .map_backward_ring(&event, RingPages::new(1).unwrap())
        .unwrap();
    RealKernel
        .control(&event, Control::Enable(ControlScope::Event))
        .unwrap();
    // A page holds about 256 samples of 16 bytes: they go around more than once. Samples that come while the output is
    // paused, or too fast, leave records of another size.
    const LONGEST: usize = 64;
    let mut records = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(20);
    while records.len() + LONGEST < ring.size() && Instant::now() < deadline {
        busy(Duration::from_millis(20));
        RealKernel
            .control(&event, Control::PauseOutput(true))
            .unwrap();
        records.clear();
        ring.copy_records(&mut records);
        RealKernel
            .control(&event, Control::PauseOutput(false))
            .unwrap();
    }
    let kinds = record_types(&records);
    let samples = kinds.iter().filter(|kind| **kind == RecordType::SAMPLE.0);
    let times = sample_times(&records);
    assert_eq!(times.len(), samples.count());
    assert!(times.len() > 100, "{} samples", times.len());
    assert!(times.is_sorted_by(|newer, older| newer > older));
}

/// The times of the samples among records, where a sample holds nothing else.
fn sample_times(records: &[u8]) -> Vec<u64> {
    let mut times = Vec::new();
    let mut rest = records;
    while let Some(header) = rest.first_chunk::<8>() {
        let size = usize::from(u16::from_ne_bytes([header[6], header[7]]));
        if header[..4] == RecordType::SAMPLE.0.to_ne_bytes() {
            times.push(u64::from_ne_bytes(rest[8..16].try_into().unwrap()));
        }
        rest = &rest[size..];
    }
    times
}

#[test]
fn an_event_without_a_trace_has_no_aux_area() {
    let attr = software(SoftwareId::Dummy);
    let Some(event) = probe(&OpenRequest::new(&attr, EventTask::Caller)) else {
        return;
    };
    let page = RingPages::new(1).unwrap();
    let pages = AuxPages {
        data: page,
        aux: page,
    };
    let refused = RealKernel.map_aux(&event, pages);
    assert!(matches!(refused, Err(RingError::Map { .. })), "{refused:?}");
}

/// Opens an event of this thread, or says why the test cannot run here.
fn counter(spec: &CounterSpec) -> Option<Counter<'static>> {
    spec.open(&RealKernel, EventTask::Caller)
        .inspect_err(|error| eprintln!("SKIPPED: this machine refuses the event: {error}"))
        .ok()
}

#[test]
fn a_read_needs_room_and_never_waits() {
    let clock = CounterSpec::task_clock().user_only();
    let Ok(mut group) = CounterGroup::open(&RealKernel, EventTask::Caller, &clock) else {
        return eprintln!("SKIPPED: this machine refuses the event");
    };
    group.add(&clock).unwrap();
    let leader = group.leader();
    for blocking in [true, false] {
        leader.set_blocking(blocking).unwrap();
        assert_eq!(leader.read().unwrap().values.len(), 2);
        // nr, enabled, running, and two times value and id.
        let whole = 7 * 8;
        let mut buffer = [0; 64];
        let short = leader.event().read_into(&mut buffer[..whole - 8]);
        assert!(matches!(short, Err(ReadError::TooSmall { room }) if room == whole - 8));
        assert_eq!(leader.event().read_into(&mut buffer).unwrap(), whole);
    }
}

#[test]
fn every_format_of_a_read_is_understood() {
    let all = [
        ReadFormat::TOTAL_TIME_ENABLED,
        ReadFormat::TOTAL_TIME_RUNNING,
        ReadFormat::ID,
        ReadFormat::GROUP,
        ReadFormat::LOST,
    ];
    for chosen in 0..1 << all.len() {
        let mut format = ReadFormat::EMPTY;
        for (nth, bit) in all.iter().enumerate() {
            format.set(*bit, chosen >> nth & 1 == 1);
        }
        let spec = CounterSpec::task_clock().user_only();
        let Some(counter) = counter(&spec.with(|attr| attr.read_format = format)) else {
            return;
        };
        busy(Duration::from_micros(100));
        let read = counter.read().unwrap();
        let has = |bit| format.contains(bit);
        assert_eq!(read.enabled.is_some(), has(ReadFormat::TOTAL_TIME_ENABLED));
        assert_eq!(read.running.is_some(), has(ReadFormat::TOTAL_TIME_RUNNING));
        let [value] = read.values[..] else {
            panic!("{read:?}");
        };
        assert_eq!(value.id.is_some(), has(ReadFormat::ID));
        assert_eq!(value.lost, has(ReadFormat::LOST).then_some(0));
        assert!(value.value > 0);
    }
}

#[test]
fn a_new_period_holds_at_once() {
    let never = CounterSpec::task_clock()
        .disabled()
        .user_only()
        .every(1 << 40)
        .sampling(SampleType::PERIOD);
    let Some(counter) = counter(&never) else {
        return;
    };
    let ring = counter.map_ring(RingPages::new(1).unwrap()).unwrap();
    counter.enable().unwrap();
    busy(Duration::from_millis(5));
    assert_eq!(ring.pending(), 0);
    counter.control(Control::Period(100_000)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while ring.pending() == 0 && Instant::now() < deadline {
        busy(Duration::from_millis(1));
    }
    assert!(ring.pending() > 0);
}

/// No register may be read: an event without a hardware counter asks for none.
struct NoCounter(CpuRegisters);

impl CounterRegisters for NoCounter {
    fn counter(&self, number: u32) -> u64 {
        panic!("counter {number} was read")
    }

    fn cycles(&self) -> u64 {
        self.0.cycles()
    }
}

#[test]
fn a_software_event_has_a_page_and_no_counter() {
    let Some(counter) = counter(&CounterSpec::task_clock().user_only()) else {
        return;
    };
    let Some(registers) = CpuRegisters::new() else {
        return eprintln!("SKIPPED: no registers are known here");
    };
    let page: CounterPage = RealKernel.map_counter_page(counter.event()).unwrap();
    assert_eq!(page.read(&NoCounter(registers)), None);
    let again = counter.map_ring(RingPages::new(1).unwrap());
    assert!(again.is_err(), "an event has one mapping's size");
}

/// On a machine with counters: what the registers say is between two reads of the kernel.
#[test]
fn a_counter_read_in_user_mode_is_the_kernels() {
    let spec = CounterSpec::hardware(oxperf_abi::HardwareId::Instructions).user_only();
    let (Some(counter), Some(registers)) = (counter(&spec), CpuRegisters::new()) else {
        return;
    };
    let page = RealKernel.map_counter_page(counter.event()).unwrap();
    for _ in 0..1000 {
        let before = counter.read().unwrap();
        let Some(own) = page.read(&registers) else {
            continue;
        };
        let after = counter.read().unwrap();
        let values = [before.values[0].value, own.value, after.values[0].value];
        assert!(values.is_sorted(), "{values:?}");
        if let Some((enabled, running)) = own.times {
            assert!(before.enabled.unwrap() <= enabled && enabled <= after.enabled.unwrap());
            assert!(running <= enabled);
        }
    }
}
