//! Events of the calling thread: opened, counted, and their records read.

use std::num::NonZeroUsize;

use oxperf_abi::{AttrFlags, EventAttr, EventType, RecordType, SoftwareId};
use oxperf_sys::{
    Control, ControlScope, DataRing, EventFd, EventTask, Kernel, OpenError, OpenRequest,
    RealKernel, RingPages,
};
use oxperf_tracepoint::{EventFormat, SystemTracefs, Tracefs};

use crate::Shortfall;

/// Pages of a ring that holds what a check asks for.
const RING_PAGES: usize = 64;

/// An event that is off, and counts user mode alone.
pub(crate) fn user_only(kind: EventType, config: u64) -> EventAttr {
    EventAttr {
        kind,
        config,
        flags: AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
        ..EventAttr::default()
    }
}

/// A software event that is off, and counts user mode alone.
pub(crate) fn software(id: SoftwareId) -> EventAttr {
    user_only(EventType::SOFTWARE, id as u64)
}

/// A tracepoint that is off.
pub(crate) fn tracepoint(system: &str, event: &str) -> Result<EventAttr, Shortfall> {
    let id = SystemTracefs::find()
        .and_then(|tracefs| tracefs.id(system, event))
        .map_err(|error| Shortfall::skip(format!("no tracepoint {system}:{event}: {error}")))?;
    Ok(EventAttr {
        kind: EventType::TRACEPOINT,
        config: id,
        sample_period: 1,
        flags: AttrFlags::DISABLED,
        ..EventAttr::default()
    })
}

/// The format of a tracepoint's records.
pub(crate) fn tracepoint_format(system: &str, event: &str) -> Result<EventFormat, Shortfall> {
    let text = SystemTracefs::find()
        .and_then(|tracefs| tracefs.format(system, event))
        .map_err(|error| Shortfall::skip(format!("no tracepoint {system}:{event}: {error}")))?;
    EventFormat::parse(&text).map_err(|error| {
        Shortfall::failure(format!(
            "the format of {system}:{event} cannot be read: {error}"
        ))
    })
}

/// A refusal as an outcome: what this kernel or hardware cannot do, or this user may not, skips.
pub(crate) fn refused(error: OpenError) -> Shortfall {
    match error {
        OpenError::AccessDenied | OpenError::NotPermitted => Shortfall::skip("permissions"),
        OpenError::NoSuchEvent
        | OpenError::NoDevice
        | OpenError::NoPmu
        | OpenError::Unsupported => Shortfall::skip(format!("not supported: {error}")),
        OpenError::NotImplemented => Shortfall::skip(error),
        other => Shortfall::failure(format!("perf_event_open: {other}")),
    }
}

/// Opens an event of the calling thread.
pub(crate) fn open(attr: &EventAttr) -> Result<EventFd, Shortfall> {
    RealKernel
        .open(&OpenRequest::new(attr, EventTask::Caller))
        .map_err(refused)
}

/// Does work while an event of the calling thread counts; gives the count.
pub(crate) fn count(attr: &EventAttr, work: impl FnOnce()) -> Result<u64, Shortfall> {
    let event = open(attr)?;
    switch(&event, true)?;
    work();
    switch(&event, false)?;
    value(&event)
}

/// Turns an event on or off.
pub(crate) fn switch(event: &EventFd, on: bool) -> Result<(), Shortfall> {
    let scope = ControlScope::Event;
    let control = if on {
        Control::Enable(scope)
    } else {
        Control::Disable(scope)
    };
    RealKernel
        .control(event, control)
        .map_err(|error| Shortfall::failure(format!("the event cannot be switched: {error}")))
}

/// The count of an event without a read format.
pub(crate) fn value(event: &EventFd) -> Result<u64, Shortfall> {
    let read = RealKernel.read(event);
    let read = read.map_err(Shortfall::failure)?;
    let first = read.values.first();
    first
        .map(|value| value.value)
        .ok_or_else(|| Shortfall::failure("the event has no value"))
}

/// A record of a ring.
pub(crate) struct RingRecord {
    pub(crate) kind: RecordType,
    pub(crate) body: Vec<u8>,
}

/// Does work while an event of the calling thread records; gives its records.
pub(crate) fn records(attr: &EventAttr, work: impl FnOnce()) -> Result<Vec<RingRecord>, Shortfall> {
    let event = open(attr)?;
    let ring = map(&event, RING_PAGES)?;
    switch(&event, true)?;
    work();
    switch(&event, false)?;
    let (first, second) = ring.available();
    split(&[first, second].concat())
}

/// Maps a ring of so many pages.
pub(crate) fn map(event: &EventFd, pages: usize) -> Result<DataRing, Shortfall> {
    let pages = RingPages::new(pages)
        .ok_or_else(|| Shortfall::failure(format!("{pages} pages are no ring")))?;
    RealKernel
        .map_ring(event, pages)
        .map_err(|error| Shortfall::failure(format!("the ring cannot be mapped: {error}")))
}

/// The records in bytes of a ring.
pub(crate) fn split(bytes: &[u8]) -> Result<Vec<RingRecord>, Shortfall> {
    let mut records = Vec::new();
    let mut rest = bytes;
    while let Some([a, b, c, d, _, _, low, high]) = rest.first_chunk::<8>() {
        let size = usize::from(u16::from_ne_bytes([*low, *high]));
        let body = rest
            .get(8..size)
            .ok_or_else(|| Shortfall::failure(format!("a record of {size} bytes in the ring")))?;
        records.push(RingRecord {
            kind: RecordType(u32::from_ne_bytes([*a, *b, *c, *d])),
            body: body.to_vec(),
        });
        rest = &rest[size..];
    }
    Ok(records)
}

/// The number of records of a kind.
pub(crate) fn number_of(records: &[RingRecord], kind: RecordType) -> usize {
    records.iter().filter(|record| record.kind == kind).count()
}

/// Keeps the processor busy for some time.
pub(crate) fn busy(milliseconds: u64) {
    let end = std::time::Instant::now() + std::time::Duration::from_millis(milliseconds);
    let mut sum = NonZeroUsize::MIN;
    while std::time::Instant::now() < end {
        sum = std::hint::black_box(sum.saturating_add(1));
    }
}
