//! The fake kernel remembers, refuses and counts as tests want it to.

use super::*;
use crate::{ControlScope, EventTask};
use oxperf_abi::{AttrFlags, Cpu, EventAttr, EventType, ReadFormat};

fn precise() -> EventAttr {
    let mut flags = AttrFlags::EMPTY;
    flags.set_precise_ip(2);
    EventAttr {
        kind: EventType::HARDWARE,
        flags,
        ..EventAttr::default()
    }
}

#[test]
fn remembers_groups_and_calls() {
    let kernel = FakeKernel::new();
    let attr = EventAttr::default();
    let leader = kernel
        .open(&OpenRequest::new(&attr, EventTask::Caller))
        .unwrap();
    let request = OpenRequest {
        group: Some(&leader),
        cpu: Some(Cpu(1)),
        ..OpenRequest::new(&attr, EventTask::Any)
    };
    let member = kernel.open(&request).unwrap();
    kernel
        .control(&member, Control::SetOutput(&leader))
        .unwrap();
    kernel
        .control(&leader, Control::Enable(ControlScope::Group))
        .unwrap();
    kernel
        .control(&leader, Control::SetFilter(c"pid != 0"))
        .unwrap();

    assert_eq!(
        (kernel.opened()[1].group, kernel.opened()[1].cpu),
        (Some(0), Some(Cpu(1)))
    );
    let expected = [
        FakeCall::SetOutput(1, 0),
        FakeCall::Enable(0, ControlScope::Group),
        FakeCall::SetFilter(0, "pid != 0".into()),
    ];
    assert_eq!(kernel.calls(), expected);
    assert_eq!(kernel.id(&member).unwrap(), EventId(2));
}

#[test]
fn refuses_what_the_test_says() {
    let kernel = FakeKernel::new().refusing(|request| {
        (request.attr.flags.precise_ip() > 0).then_some(Errno(libc::EOPNOTSUPP))
    });
    let attr = precise();
    let refused = kernel.open(&OpenRequest::new(&attr, EventTask::Caller));
    assert_eq!(refused.unwrap_err(), OpenError::Unsupported);
    assert!(
        kernel
            .open(&OpenRequest::new(&EventAttr::default(), EventTask::Caller))
            .is_ok()
    );
    assert_eq!(kernel.opened().len(), 1);
}

#[test]
fn rings_hold_what_the_test_writes() {
    let kernel = FakeKernel::new().with_largest_ring(2);
    let event = kernel
        .open(&OpenRequest::new(&EventAttr::default(), EventTask::Caller))
        .unwrap();
    let pages = |count| RingPages::new(count).unwrap();
    assert!(matches!(
        kernel.map_ring(&event, pages(4)),
        Err(RingError::LockedMemory { .. })
    ));
    let ring = kernel.map_ring(&event, pages(2)).unwrap();
    assert!(kernel.write_records(0, b"12345678"));
    assert_eq!(ring.available().0, b"12345678");
}

fn opened_on(kernel: &FakeKernel, group: Option<&EventFd>) -> EventFd {
    opened_with(kernel, group, ReadFormat::EMPTY)
}

fn opened_with(kernel: &FakeKernel, group: Option<&EventFd>, read_format: ReadFormat) -> EventFd {
    let attr = EventAttr {
        read_format,
        ..EventAttr::default()
    };
    let request = OpenRequest {
        group,
        ..OpenRequest::new(&attr, EventTask::Caller)
    };
    kernel.open(&request).unwrap()
}

#[test]
fn counters_read_what_the_test_scripts() {
    let count = |value, running| FakeCount {
        value,
        enabled: 100,
        running,
        lost: 0,
    };
    let kernel = FakeKernel::new()
        .with_counts(0, &[count(5, 100), count(9, 50)])
        .with_counts(1, &[count(7, 100)]);
    let format = ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_RUNNING;
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let leader = opened_with(&kernel, None, format);
    let member = opened_with(&kernel, Some(&leader), times);
    let unscripted = opened_with(&kernel, None, times);
    let read = |event: &EventFd| {
        let read = kernel.read(event).unwrap();
        let values: Vec<u64> = read.values.iter().map(|value| value.value).collect();
        (read.enabled, read.running, values)
    };
    assert_eq!(read(&leader), (None, Some(100), vec![5, 7]));
    assert_eq!(read(&leader), (None, Some(50), vec![9, 7]));
    assert_eq!(read(&member), (Some(100), Some(100), vec![7]));
    assert_eq!(read(&unscripted), (Some(0), Some(0), vec![0]));
    let ids: Vec<_> = kernel.read(&leader).unwrap().values;
    assert_eq!(ids[1].id, Some(EventId(2)));
}

#[test]
fn own_events_are_switched_at_once() {
    let kernel = FakeKernel::new();
    kernel.control_own_events(OwnEvents::Disable).unwrap();
    kernel.control_own_events(OwnEvents::Enable).unwrap();
    let expected = [OwnEvents::Disable, OwnEvents::Enable].map(FakeCall::OwnEvents);
    assert_eq!(kernel.calls(), expected);
}

#[test]
fn traces_land_where_the_kernel_has_aux_areas() {
    let page = RingPages::new(1).unwrap();
    let pages = AuxPages {
        data: page,
        aux: RingPages::new(2).unwrap(),
    };
    let plain = FakeKernel::new();
    let refused = plain.map_aux(&opened_on(&plain, None), pages);
    let errno = Errno(libc::EOPNOTSUPP);
    assert!(matches!(refused, Err(RingError::Map { errno: found, .. }) if found == errno));

    let kernel = FakeKernel::new().with_aux();
    let event = opened_on(&kernel, None);
    let (ring, aux) = kernel.map_aux(&event, pages).unwrap();
    assert!(kernel.write_records(0, b"12345678"));
    assert!(kernel.write_aux(0, b"trace"));
    assert_eq!((ring.pending(), aux.available().0), (8, &b"trace"[..]));
    let (_ring, snapshot) = kernel.map_aux_snapshot(&event, pages).unwrap();
    assert!(kernel.write_aux(0, b"newest"));
    let mut taken = Vec::new();
    snapshot.copy(0..6, &mut taken);
    assert_eq!((snapshot.position(), &*taken), (6, &b"newest"[..]));
    let calls = [
        FakeCall::MapAux(0, pages),
        FakeCall::MapAuxSnapshot(0, pages),
    ];
    assert_eq!(kernel.calls(), calls);
}

#[test]
fn the_newest_records_are_kept() {
    let kernel = FakeKernel::new();
    let event = opened_on(&kernel, None);
    let page = RingPages::new(1).unwrap();
    let ring = kernel.map_backward_ring(&event, page).unwrap();
    let header = |size: u16| [&[0; 6][..], &size.to_ne_bytes()].concat();
    assert!(kernel.write_records(0, &header(8)));
    let mut records = Vec::new();
    assert_eq!(ring.copy_records(&mut records), 8);
    assert_eq!(records, header(8));
    assert_eq!(kernel.calls(), [FakeCall::MapBackwardRing(0, page)]);
}
