//! The kernel's side of rings: what the fake kernel writes with.
//!
//! A writer shares the memory of one ring and keeps the kernel's part of its protocol: nothing is written between tail and
//! head, and the head is published behind what was written. So it may write while another thread reads the ring.

use super::page::ControlPage;
use super::region::Region;
use crate::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes records into a ring of the fake kernel. A ring has one writer.
#[derive(Debug)]
pub(crate) struct RecordWriter {
    region: Arc<Region>,
    size: usize,
    direction: Direction,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    /// Towards the end, as far as the reader has read.
    Forward,
    /// Towards the beginning, over the oldest.
    Backward,
}

impl RecordWriter {
    /// Writes into `region`, a writable control page with `size` bytes of data behind it.
    pub(super) fn new(region: &Arc<Region>, size: usize, direction: Direction) -> RecordWriter {
        RecordWriter {
            region: Arc::clone(region),
            size,
            direction,
        }
    }

    /// Writes whole records at the head. False, and nothing written, when there is no space for them.
    pub(crate) fn write(&mut self, records: &[u8]) -> bool {
        match self.direction {
            Direction::Forward => self.append(records),
            Direction::Backward => self.prepend(records),
        }
    }

    /// Bytes that the reader has not consumed.
    pub(crate) fn pending(&self) -> usize {
        let page = ControlPage::of(&self.region);
        waiting(&page.data_head, &page.data_tail).min(self.size)
    }

    fn append(&mut self, records: &[u8]) -> bool {
        if records.len() > self.size - self.pending() {
            return false;
        }
        let head = &ControlPage::of(&self.region).data_head;
        let start = head.load(Ordering::Relaxed);
        let data = process::page_size();
        put(&self.region, data, self.size, start, records);
        // Release: the records are seen by who sees the head.
        head.store(start.wrapping_add(records.len() as u64), Ordering::Release);
        true
    }

    fn prepend(&mut self, record: &[u8]) -> bool {
        if record.len() > self.size {
            return false;
        }
        let head = &ControlPage::of(&self.region).data_head;
        let start = head
            .load(Ordering::Relaxed)
            .wrapping_sub(record.len() as u64);
        put(&self.region, process::page_size(), self.size, start, record);
        head.store(start, Ordering::Release);
        true
    }
}

/// Writes trace into an AUX area of the fake kernel. An area has one writer.
#[derive(Debug)]
pub(crate) struct TraceWriter {
    trace: Arc<Region>,
    control: Arc<Region>,
    size: usize,
    overwrite: bool,
}

impl TraceWriter {
    /// Writes into `trace`, a writable area of `size` bytes; with `overwrite` over the oldest.
    pub(super) fn new(
        trace: &Arc<Region>,
        control: &Arc<Region>,
        size: usize,
        overwrite: bool,
    ) -> TraceWriter {
        TraceWriter {
            trace: Arc::clone(trace),
            control: Arc::clone(control),
            size,
            overwrite,
        }
    }

    /// Returns whether the oldest trace is overwritten.
    pub(crate) fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// Bytes that fit before the reader has to consume some.
    pub(crate) fn space(&self) -> usize {
        let page = ControlPage::of(&self.control);
        if self.overwrite {
            return self.size;
        }
        self.size - waiting(&page.aux_head, &page.aux_tail).min(self.size)
    }

    /// The position behind the newest byte, as the page has it.
    pub(crate) fn position(&self) -> u64 {
        ControlPage::of(&self.control)
            .aux_head
            .load(Ordering::Relaxed)
    }

    /// Writes a piece of trace at the head. False, and nothing written, when it does not fit. An area that is overwritten takes
    /// the end of a piece that is longer than itself, and has positions within the area, as Intel PT's are.
    pub(crate) fn write(&mut self, trace: &[u8]) -> bool {
        let trace = match self.overwrite {
            true => &trace[trace.len().saturating_sub(self.size)..],
            false => trace,
        };
        if trace.len() > self.space() {
            return false;
        }
        let start = self.position();
        put(&self.trace, 0, self.size, start, trace);
        let end = start.wrapping_add(trace.len() as u64);
        let head = match self.overwrite {
            true => end & (self.size as u64 - 1),
            false => end,
        };
        ControlPage::of(&self.control)
            .aux_head
            .store(head, Ordering::Release);
        true
    }
}

/// Bytes between the positions. Acquire: the reader has done with what is before the tail.
fn waiting(head: &AtomicU64, tail: &AtomicU64) -> usize {
    let tail = tail.load(Ordering::Acquire);
    let length = head.load(Ordering::Relaxed).wrapping_sub(tail);
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// Writes `bytes`, no more than `size`, from a position on, around the end of the `size` bytes that begin at `base`.
fn put(region: &Region, base: usize, size: usize, position: u64, bytes: &[u8]) {
    let start = (position & (size as u64 - 1)) as usize;
    let (first, second) = bytes.split_at(bytes.len().min(size - start));
    region.write_shared(base + start, first);
    region.write_shared(base, second);
}
