//! Counters opened and read on a kernel that tests script.

use std::time::{Duration, Instant};

use oxperf_abi::{AttrFlags, CountReading, Cpu, EventType, SoftwareId, Tid};
use oxperf_pmu::tool::{self, ToolEvent};
use oxperf_sys::{
    ControlScope, Errno, FakeCall, FakeCount, FakeKernel, FakePmu, OpenRequest, Sysfs,
};

use super::counters::{CountedEvent, Counters, EventReadings};
use super::opening::Opening;
use super::own::RunMoment;
use super::{CountRequest, LatencyOptions};
use crate::error::CaptureError;
use crate::event::EventRequest;
use crate::explain::Permissions;
use crate::notice::Notice;
use crate::options::{Target, TargetOptions};
use crate::plan::MachineInfo;

const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;

fn software(id: SoftwareId) -> EventRequest {
    EventRequest::software(id, id.names()[0])
}

fn member_of(leader: usize, id: SoftwareId) -> EventRequest {
    EventRequest {
        leader: Some(leader),
        ..software(id)
    }
}

fn hardware(name: &str) -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, name);
    request.attr.kind = EventType::HARDWARE;
    request
}

fn open(
    kernel: &FakeKernel,
    target: Target,
    requests: Vec<EventRequest>,
) -> Result<Counters, CaptureError> {
    let requests = requests.into_iter().map(CountRequest::from).collect();
    open_again(kernel, target, requests)
}

/// Opens what an earlier run may have found something out about.
fn open_again(
    kernel: &FakeKernel,
    target: Target,
    requests: Vec<CountRequest>,
) -> Result<Counters, CaptureError> {
    let threads = match target {
        Target::Threads(ref tids) => tids.clone(),
        _ => Vec::new(),
    };
    let machine = MachineInfo {
        online: vec![Cpu(0), Cpu(1)],
        threads,
        is_hybrid: false,
    };
    let target = TargetOptions {
        target,
        ..TargetOptions::default()
    };
    let opening = Opening {
        kernel,
        target: &target,
        machine: &machine,
        sysfs: &Sysfs::default(),
        workload: Some(Tid(7)),
        permissions: Permissions::default(),
        raised_files: false,
        may_move: false,
        to_stream: false,
        latencies: LatencyOptions::default(),
    };
    let mut observer: Vec<Notice> = Vec::new();
    opening.open(requests, &mut observer)
}

fn refusing(
    errno: i32,
    refused: impl Fn(&OpenRequest<'_>) -> bool + Send + Sync + 'static,
) -> FakeKernel {
    FakeKernel::new().refusing(move |request| refused(request).then_some(Errno(errno)))
}

fn is_page_faults(request: &OpenRequest<'_>) -> bool {
    request.attr.kind == EventType::SOFTWARE && request.attr.config == SoftwareId::PageFaults as u64
}

fn count(value: u64, enabled: u64, running: u64) -> FakeCount {
    FakeCount {
        value,
        enabled,
        running,
        lost: 0,
    }
}

/// What all counters say now.
fn read(counters: &Counters, kernel: &FakeKernel) -> Vec<EventReadings> {
    let moment = RunMoment {
        now: Instant::now(),
        usage: None,
    };
    let mut readings = Vec::new();
    counters.read(kernel, moment, &mut readings);
    readings
}

fn values(counters: &Counters, kernel: &FakeKernel) -> Vec<Vec<Option<u64>>> {
    let value = |reading: &Option<CountReading>| reading.map(|reading| reading.value);
    let readings = read(counters, kernel);
    readings
        .iter()
        .map(|sites| sites.iter().map(value).collect())
        .collect()
}

#[test]
fn counters_are_opened_cpu_by_cpu() {
    let kernel = FakeKernel::new();
    let events = vec![
        software(SoftwareId::CpuClock),
        software(SoftwareId::PageFaults),
    ];
    open(&kernel, Target::AllCpus, events).unwrap();
    let opened = kernel.opened();
    let cpus: Vec<_> = opened.iter().map(|event| event.cpu).collect();
    assert_eq!(cpus, [0, 0, 1, 1].map(|cpu| Some(Cpu(cpu))));
}

#[test]
fn a_group_is_read_with_its_leader_and_never_in_part() {
    let kernel = FakeKernel::new()
        .with_counts(0, &[count(5, 9, 3)])
        .with_counts(1, &[count(6, 9, 3)])
        .with_counts(2, &[count(7, 9, 9)]);
    let events = vec![
        software(SoftwareId::CpuClock),
        member_of(0, SoftwareId::PageFaults),
        software(SoftwareId::TaskClock),
    ];
    let counters = open(&kernel, Target::Workload, events.clone()).unwrap();
    assert_eq!(
        values(&counters, &kernel),
        [[Some(5)], [Some(6)], [Some(7)]]
    );
    // Without its member the leader's count is not that of the group.
    let kernel = refusing(EINVAL, is_page_faults).with_counts(0, &[count(5, 9, 3)]);
    let counters = open(&kernel, Target::Workload, events).unwrap();
    assert_eq!(values(&counters, &kernel)[..2], [[None], [None]]);
    let supported: Vec<bool> = counters
        .events()
        .iter()
        .map(|event| event.is_supported())
        .collect();
    assert_eq!(supported, [true, false, true]);
}

#[test]
fn without_its_leader_a_group_is_not_opened() {
    let kernel = refusing(ENOENT, |request| request.attr.kind == EventType::HARDWARE);
    let events = vec![
        hardware("branches"),
        member_of(0, SoftwareId::PageFaults),
        software(SoftwareId::TaskClock),
    ];
    let counters = open(&kernel, Target::AllCpus, events).unwrap();
    assert_eq!(kernel.opened().len(), 2, "task-clock on each CPU");
    let refused = counters
        .events()
        .iter()
        .filter(|event| !event.is_supported());
    assert_eq!(refused.count(), 2);
}

#[test]
fn a_weak_group_is_opened_again_as_single_events() {
    let weak = |request: EventRequest| EventRequest {
        weak_group: true,
        ..request
    };
    let kernel = refusing(EINVAL, |request| request.group.is_some());
    let events = vec![
        weak(software(SoftwareId::CpuClock)),
        weak(member_of(0, SoftwareId::PageFaults)),
        software(SoftwareId::TaskClock),
    ];
    let counters = open(&kernel, Target::Workload, events).unwrap();
    let kinds: Vec<u64> = kernel
        .opened()
        .iter()
        .map(|event| event.attr.config)
        .collect();
    let (clock, task, faults) = (
        SoftwareId::CpuClock,
        SoftwareId::TaskClock,
        SoftwareId::PageFaults,
    );
    assert_eq!(kinds, [clock, task, clock, faults].map(|id| id as u64));
    assert!(
        counters
            .events()
            .iter()
            .all(|event| event.is_supported() && event.is_open())
    );
}

#[test]
fn a_thread_that_is_gone_is_left_out() {
    let kernel = refusing(ESRCH, |request| {
        matches!(request.task, oxperf_sys::EventTask::Thread(Tid(10)))
    });
    let target = Target::Threads(vec![Tid(10), Tid(11)]);
    let counters = open(&kernel, target, vec![software(SoftwareId::TaskClock)]).unwrap();
    assert_eq!(values(&counters, &kernel), [[None, Some(0)]]);
}

#[test]
fn a_cpu_that_went_offline_is_left_out() {
    let gone = |request: &OpenRequest<'_>| request.cpu == Some(Cpu(0));
    let kernel = refusing(ENODEV, gone).with_counts(0, &[count(5, 9, 9)]);
    let events = vec![
        software(SoftwareId::CpuClock),
        member_of(0, SoftwareId::PageFaults),
    ];
    let counters = open(&kernel, Target::AllCpus, events.clone()).unwrap();
    assert_eq!(
        values(&counters, &kernel),
        [[None, Some(5)], [None, Some(0)]]
    );
    assert!(counters.events().iter().all(CountedEvent::is_supported));
    // An event that no CPU has is refused.
    let failed = open(&refusing(ENODEV, |_| true), Target::AllCpus, events);
    assert!(matches!(failed, Err(CaptureError::NoEvent(_))));
}

#[test]
fn a_pinned_event_without_a_counter_says_nothing() {
    let pinned = |name| {
        let mut request = hardware(name);
        request.attr.flags |= AttrFlags::PINNED;
        request
    };
    let kernel = FakeKernel::new()
        .with_pmu(FakePmu::core(1))
        .with_rates(|_| Some(1000));
    let events = vec![pinned("cycles"), pinned("branches")];
    let counters = open(&kernel, Target::Workload, events).unwrap();
    counters.enable(&kernel).unwrap();
    kernel.advance(Duration::from_secs(1));
    assert_eq!(values(&counters, &kernel), [[Some(1000)], [None]]);
}

#[test]
fn events_that_take_turns_say_how_long_they_counted() {
    let kernel = FakeKernel::new()
        .with_pmu(FakePmu::core(1))
        .with_rates(|_| Some(1000));
    let events = vec![hardware("cycles"), hardware("branches")];
    let counters = open(&kernel, Target::Workload, events).unwrap();
    counters.enable(&kernel).unwrap();
    kernel.advance(Duration::from_secs(1));
    for sites in read(&counters, &kernel) {
        let reading = sites[0].unwrap();
        assert_eq!(
            (reading.enabled, reading.running),
            (1_000_000_000, 500_000_000)
        );
        assert_eq!(reading.value, 500);
        assert_eq!(reading.scaled().value, 1000);
    }
}

#[test]
fn nothing_that_counts_is_an_error() {
    let kernel = refusing(ENOENT, |_| true);
    let failed = open(&kernel, Target::Workload, vec![hardware("cycles")]);
    assert!(
        matches!(failed, Err(CaptureError::NoEvent(explanation)) if explanation.event == "cycles")
    );
}

#[test]
fn what_an_earlier_run_found_out_is_not_tried_again() {
    let kernel = refusing(ENOENT, |request| request.attr.kind == EventType::HARDWARE);
    let events = vec![hardware("branches"), software(SoftwareId::TaskClock)];
    let first = open(&kernel, Target::Workload, events).unwrap();
    let requests = first.requests();
    assert!(requests[0].findings.refusal.is_some() && requests[1].findings.refusal.is_none());
    let fresh = FakeKernel::new();
    open_again(&fresh, Target::Workload, requests).unwrap();
    assert_eq!(fresh.opened().len(), 1);
}

fn tool(event: ToolEvent) -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, event.name());
    (request.attr.kind, request.attr.config) = (tool::KIND, event as u64);
    request
}

#[test]
fn what_no_kernel_counts_is_opened_nowhere_and_in_no_group() {
    let kernel = FakeKernel::new().with_counts(0, &[count(5, 9, 3)]);
    let events = vec![
        tool(ToolEvent::DurationTime),
        member_of(0, SoftwareId::CpuClock),
        member_of(0, SoftwareId::PageFaults),
        EventRequest {
            leader: Some(0),
            ..tool(ToolEvent::TargetCpu)
        },
    ];
    let counters = open(&kernel, Target::AllCpus, events).unwrap();
    let opened = kernel.opened();
    let groups: Vec<bool> = opened.iter().map(|event| event.group.is_some()).collect();
    assert_eq!(groups, [false, true, false, true]);
    let values = values(&counters, &kernel);
    assert_eq!(values[0], [Some(0)], "nothing has started it");
    assert_eq!((values[1][0], &*values[3]), (Some(5), &[Some(1)][..]));
}

fn with_filter(mut request: EventRequest, conditions: &[&str]) -> EventRequest {
    conditions
        .iter()
        .for_each(|condition| request.add_filter(condition));
    request
}

#[test]
fn every_counter_has_the_filter() {
    let kernel = FakeKernel::new();
    let tracepoint = EventRequest {
        tracepoint: Some(("system".to_owned(), "event".to_owned())),
        ..software(SoftwareId::CpuClock)
    };
    let event = with_filter(tracepoint, &["a != 0", "b > 3"]);
    open(&kernel, Target::AllCpus, vec![event]).unwrap();
    let filter = "(a != 0) && (b > 3)".to_owned();
    let expected = [
        FakeCall::SetFilter(0, filter.clone()),
        FakeCall::SetFilter(1, filter),
    ];
    assert_eq!(kernel.calls(), expected);
}

#[test]
fn a_filter_that_the_kernel_does_not_take_is_an_error() {
    let event = with_filter(software(SoftwareId::CpuClock), &["a\0b"]);
    let failed = open(&FakeKernel::new(), Target::Workload, vec![event]);
    assert!(matches!(failed, Err(CaptureError::Filter { .. })));
}

#[test]
fn events_are_switched_on_and_off_all_or_by_name() {
    let kernel = FakeKernel::new();
    let events = vec![
        software(SoftwareId::CpuClock),
        member_of(0, SoftwareId::PageFaults),
    ];
    let counters = open(&kernel, Target::Workload, events).unwrap();
    let moment = RunMoment {
        now: Instant::now(),
        usage: None,
    };
    let set = |name, counts| {
        counters
            .set_counting(&kernel, name, counts, moment)
            .unwrap()
    };
    assert!(set(None, true));
    assert!(set(Some("page-faults"), false));
    assert!(!set(Some("nosuch"), true));
    let expected = [
        FakeCall::Enable(0, ControlScope::Event),
        FakeCall::Disable(1, ControlScope::Event),
    ];
    assert_eq!(kernel.calls(), expected);
}

#[test]
fn latencies_take_no_counter_and_stand_at_the_first_site() {
    let kernel = FakeKernel::new();
    let latency = EventRequest {
        retire_latency: true,
        published_latency: Some(290),
        ..EventRequest::software(SoftwareId::CpuClock, "loads:R")
    };
    let faults = EventRequest::software(SoftwareId::PageFaults, "page-faults");
    let requests = vec![latency, faults];
    let counters = open(&kernel, Target::AllCpus, requests).unwrap();
    assert_eq!(kernel.opened().len(), 2);
    read(&counters, &kernel);
    let readings = read(&counters, &kernel);
    let expected = CountReading {
        value: 580,
        enabled: 2,
        running: 2,
    };
    // Each reading says it again, so that it stands in every interval.
    assert_eq!(readings[0], [Some(expected), Some(CountReading::default())]);
}
