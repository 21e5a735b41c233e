//! The AUX area of an event: hardware writes a trace there, and the kernel announces it on the control page of the
//! event's ring of records.
//!
//! ```text
//!  control page | data            the ring of records: says where the area is, and its head and tail
//!  trace, a power of two of pages
//!     ......[tail .......... head)......     AuxRing: nothing is written between tail and head
//!     [newest ...... head)[oldest ......     AuxSnapshotRing: the oldest is overwritten
//! ```
//!
//! A record (`PERF_RECORD_AUX`) in the ring of records says which bytes a piece of trace has; the bytes are here.

use super::data::{DataRing, RingError, RingPages};
use super::page::ControlPage;
use super::positions::{Cursor, Shared};
use super::region::{Access, Backing, Region};
use super::writer::TraceWriter;
use crate::{EventFd, process};
use std::ops::Range;
use std::os::fd::AsFd;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sizes of a ring of records and of the AUX area that belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AuxPages {
    /// Pages of the ring of records.
    pub data: RingPages,
    /// Pages of the AUX area.
    pub aux: RingPages,
}

impl AuxPages {
    /// Offset of the area in the event's descriptor: behind the control page and the records.
    fn offset(self) -> usize {
        process::page_size() + self.data.bytes()
    }
}

/// An AUX area whose whole trace is read: the kernel stops the trace where the area is full, and goes on after
/// [`AuxRing::consume`].
#[derive(Debug)]
pub struct AuxRing {
    area: AuxArea,
    cursor: Cursor,
}

/// An AUX area that holds the newest part of a trace, for a snapshot at a moment of the reader's choice.
#[derive(Debug)]
pub struct AuxSnapshotRing {
    area: AuxArea,
}

/// The mapped area and the page with its positions. The area is unmapped first.
#[derive(Debug)]
struct AuxArea {
    trace: Arc<Region>,
    control: Arc<Region>,
    size: usize,
}

/// Maps the ring of an event and an AUX area whose whole trace is read.
///
/// # Errors
/// The kernel's answer: `EINVAL` or `EOPNOTSUPP` where the event has no trace.
pub(crate) fn map_aux(event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
    let (ring, area) = AuxArea::of_event(event, pages, Access::ReadWrite)?;
    Ok((ring, AuxRing::new(area)))
}

/// Maps the ring of an event and an AUX area whose oldest trace is overwritten.
///
/// # Errors
/// As [`map_aux`].
pub(crate) fn map_aux_snapshot(
    event: &EventFd,
    pages: AuxPages,
) -> Result<(DataRing, AuxSnapshotRing), RingError> {
    let (ring, area) = AuxArea::of_event(event, pages, Access::ReadOnly)?;
    Ok((ring, AuxSnapshotRing { area }))
}

/// As [`map_aux`], in plain memory that no kernel writes.
pub(crate) fn anonymous_aux(pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
    let (ring, area) = AuxArea::anonymous(pages)?;
    Ok((ring, AuxRing::new(area)))
}

/// As [`map_aux_snapshot`], in plain memory that no kernel writes.
pub(crate) fn anonymous_aux_snapshot(
    pages: AuxPages,
) -> Result<(DataRing, AuxSnapshotRing), RingError> {
    let (ring, area) = AuxArea::anonymous(pages)?;
    Ok((ring, AuxSnapshotRing { area }))
}

impl AuxArea {
    /// The ring and the area come from one event in one step: so the positions on the page are those of the area.
    fn of_event(
        event: &EventFd,
        pages: AuxPages,
        access: Access,
    ) -> Result<(DataRing, AuxArea), RingError> {
        let ring = DataRing::map(event, pages.data)?;
        let positions = positions(ring.region());
        // The kernel takes the place of the area from the page when it is mapped.
        positions.place(pages.offset(), pages.aux.bytes());
        let backing = Backing::Event(event.as_fd(), pages.offset());
        AuxArea::beside(ring, backing, pages, access)
    }

    /// The fake kernel's area is always writable: its side writes to the same mapping.
    fn anonymous(pages: AuxPages) -> Result<(DataRing, AuxArea), RingError> {
        let ring = DataRing::anonymous(pages.data)?;
        AuxArea::beside(ring, Backing::Memory, pages, Access::ReadWrite)
    }

    fn beside(
        ring: DataRing,
        backing: Backing<'_>,
        pages: AuxPages,
        access: Access,
    ) -> Result<(DataRing, AuxArea), RingError> {
        let size = pages.aux.bytes();
        let trace = Region::map(backing, size, access)
            .map_err(|errno| RingError::of_mapping(size, errno))?;
        let control = Arc::clone(ring.region());
        Ok((
            ring,
            AuxArea {
                trace: Arc::new(trace),
                control,
                size,
            },
        ))
    }

    fn positions(&self) -> AuxPositions<'_> {
        positions(&self.control)
    }
}

impl AuxRing {
    fn new(area: AuxArea) -> AuxRing {
        let tail = area.positions().tail.load(Ordering::Relaxed);
        let cursor = Cursor::new(area.size, tail);
        AuxRing { area, cursor }
    }

    /// Bytes of the area.
    pub fn size(&self) -> usize {
        self.cursor.size()
    }

    /// The position in the whole trace of the first byte that waits. An AUX record gives positions of the same kind.
    pub fn position(&self) -> u64 {
        self.cursor.position()
    }

    /// Bytes of trace that wait to be consumed.
    pub fn pending(&self) -> usize {
        self.cursor.pending(&self.area.positions())
    }

    /// The trace that nobody has consumed, oldest byte first: up to two pieces, because the area wraps.
    pub fn available(&self) -> (&[u8], &[u8]) {
        let [first, second] = self.cursor.available(&self.area.positions());
        (self.piece(first), self.piece(second))
    }

    /// Gives the oldest `length` bytes back to the kernel; more than is pending counts as all of it.
    pub fn consume(&mut self, length: usize) {
        self.cursor.consume(&self.area.positions(), length);
    }

    fn piece(&self, range: Range<usize>) -> &[u8] {
        debug_assert!(range.start <= range.end && range.end <= self.size());
        let start = self.area.trace.start();
        // SAFETY: the cursor keeps ranges within the area. The area is mapped writable, so the kernel lets hardware
        // write only outside tail and head, and moving the tail needs `&mut self`, which ends this borrow. The area and
        // the page with its positions were mapped from one event.
        unsafe { slice::from_raw_parts(start.add(range.start).as_ptr(), range.len()) }
    }

    /// The hardware's side of an area of the fake kernel; there is one.
    pub(crate) fn writer(&self) -> TraceWriter {
        TraceWriter::new(&self.area.trace, &self.area.control, self.size(), false)
    }
}

impl AuxSnapshotRing {
    /// Bytes of the area.
    pub fn size(&self) -> usize {
        self.area.size
    }

    /// The kernel's position: the place behind the newest byte. Drivers publish it within the area (Intel PT does) or
    /// as a count from the beginning of the trace.
    pub fn position(&self) -> u64 {
        self.area.positions().head()
    }

    /// Appends a copy of the bytes at these places of the area. Those that hardware never wrote are 0.
    ///
    /// Stop the event first: a copy of a trace that goes on may mix old bytes and new ones.
    pub fn copy(&self, places: Range<usize>, into: &mut Vec<u8>) {
        self.area.trace.copy_shared(places, into);
    }

    /// The hardware's side of an area of the fake kernel; there is one.
    pub(crate) fn writer(&self) -> TraceWriter {
        TraceWriter::new(&self.area.trace, &self.area.control, self.size(), true)
    }
}

/// The positions of an AUX area, as both sides see them.
struct AuxPositions<'a> {
    head: &'a AtomicU64,
    tail: &'a AtomicU64,
    offset: &'a AtomicU64,
    size: &'a AtomicU64,
}

impl AuxPositions<'_> {
    /// Says where in the event's descriptor the area is to be.
    fn place(&self, offset: usize, size: usize) {
        self.offset.store(offset as u64, Ordering::Relaxed);
        self.size.store(size as u64, Ordering::Release);
    }
}

impl Shared for AuxPositions<'_> {
    fn head(&self) -> u64 {
        // Acquire: the trace is read only after the head that covers it.
        self.head.load(Ordering::Acquire)
    }

    fn set_tail(&self, tail: u64) {
        // Release: our reads of the trace happen before the kernel may write there.
        self.tail.store(tail, Ordering::Release);
    }
}

fn positions(control: &Region) -> AuxPositions<'_> {
    let page = ControlPage::of(control);
    AuxPositions {
        head: &page.aux_head,
        tail: &page.aux_tail,
        offset: &page.aux_offset,
        size: &page.aux_size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_page() -> AuxPages {
        let page = RingPages::new(1).unwrap();
        AuxPages {
            data: page,
            aux: page,
        }
    }

    #[test]
    fn a_whole_trace_waits_for_its_reader() {
        let (_ring, mut aux) = anonymous_aux(one_page()).unwrap();
        let mut writer = aux.writer();
        let size = aux.size();
        assert!(writer.write(&vec![1; size - 2]));
        aux.consume(size - 2);
        assert_eq!(aux.position(), size as u64 - 2);
        assert!(writer.write(b"abcde"));
        assert_eq!(aux.available(), (&b"ab"[..], &b"cde"[..]));
        assert!(!writer.write(&vec![2; size - 4]));
        assert_eq!(aux.pending(), 5);
        aux.consume(99);
        assert_eq!(aux.available(), (&[][..], &[][..]));
    }

    #[test]
    fn the_area_outlives_its_ring_of_records() {
        let (ring, aux) = anonymous_aux(one_page()).unwrap();
        let mut writer = aux.writer();
        drop(ring);
        assert!(writer.write(b"trace"));
        assert_eq!(aux.available().0, b"trace");
    }

    #[test]
    fn hardware_goes_around_in_an_area_for_snapshots() {
        let (_ring, aux) = anonymous_aux_snapshot(one_page()).unwrap();
        let mut writer = aux.writer();
        let size = aux.size();
        let trace: Vec<u8> = (0..size + 5).map(|at| (at % 251 + 1) as u8).collect();
        trace
            .chunks(1001)
            .for_each(|piece| assert!(writer.write(piece)));
        assert_eq!(aux.position(), 5, "positions are within the area");
        let mut taken = Vec::new();
        for places in [5..size, 0..5, size - 1..size + 9] {
            aux.copy(places, &mut taken);
        }
        assert_eq!(taken, [&trace[5..], &trace[size - 1..size]].concat());
    }
}
