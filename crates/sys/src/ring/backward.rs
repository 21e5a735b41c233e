//! A ring that keeps the newest records: the kernel writes it from its end towards its beginning, and over the oldest
//! (`write_backward`).
//!
//! ```text
//!  ... part of a record that was overwritten)[head: newest record | older | ... | oldest whole record | part of ...
//! ```
//!
//! Each record begins before the one that was written earlier, so that a reader that starts at the head finds whole
//! records until it has gone around. There is no tail: nothing is consumed.

use super::data::{RingError, RingPages};
use super::page::ControlPage;
use super::region::{Access, Backing, Region};
use super::writer::{Direction, RecordWriter};
use crate::{EventFd, process};
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped ring of the newest records.
#[derive(Debug)]
pub struct BackwardRing {
    region: Arc<Region>,
    size: usize,
}

/// Bytes of a record's header, and of the steps in which records grow.
const HEADER: u64 = 8;

impl BackwardRing {
    /// Maps the ring of `event`, whose attribute says `write_backward`.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn map(event: &EventFd, pages: RingPages) -> Result<BackwardRing, RingError> {
        BackwardRing::new(Backing::Event(event.as_fd(), 0), pages, Access::ReadOnly)
    }

    /// A ring in plain memory that no kernel writes, for the fake kernel.
    pub(crate) fn anonymous(pages: RingPages) -> Result<BackwardRing, RingError> {
        BackwardRing::new(Backing::Memory, pages, Access::ReadWrite)
    }

    fn new(
        backing: Backing<'_>,
        pages: RingPages,
        access: Access,
    ) -> Result<BackwardRing, RingError> {
        let size = pages.bytes();
        let region = Region::map(backing, size + process::page_size(), access)
            .map_err(|errno| RingError::of_mapping(size, errno))?;
        Ok(BackwardRing {
            region: Arc::new(region),
            size,
        })
    }

    /// Bytes of the data pages.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Appends copies of the whole records that the ring holds, the newest first, and returns how many bytes these are.
    ///
    /// Pause the output first ([`Control::PauseOutput`](crate::Control::PauseOutput)): while the kernel writes, the
    /// oldest records may be copied in part.
    pub fn copy_records(&self, into: &mut Vec<u8>) -> usize {
        // Acquire: the records are read only after the head that covers them.
        let head = self.head().load(Ordering::Acquire);
        self.copy_from(head, self.whole_records(head), into)
    }

    /// As [`BackwardRing::copy_records`], without those that were there at the copy before: `seen` says which these are, and
    /// is 0 at the first copy.
    pub fn copy_new_records(&self, seen: &mut u64, into: &mut Vec<u8>) -> usize {
        let head = self.head().load(Ordering::Acquire);
        // The kernel writes towards lower positions.
        let new = usize::try_from(seen.wrapping_sub(head)).unwrap_or(usize::MAX);
        *seen = head;
        self.copy_from(head, self.whole_records(head).min(new), into)
    }

    fn copy_from(&self, head: u64, length: usize, into: &mut Vec<u8>) -> usize {
        let start = self.offset_of(head);
        let first = length.min(self.size - start);
        self.copy(start..start + first, into);
        self.copy(0..length - first, into);
        length
    }

    /// Bytes of the whole records from `head` on: up to one that was never written, or was overwritten in part.
    fn whole_records(&self, head: u64) -> usize {
        let mut length = 0;
        while length < self.size {
            let size = self.record_size(head.wrapping_add(length as u64));
            let is_whole = size >= HEADER as usize
                && size.is_multiple_of(HEADER as usize)
                && size <= self.size - length;
            if !is_whole {
                break;
            }
            length += size;
        }
        length
    }

    /// The size that the header at a position names.
    fn record_size(&self, position: u64) -> usize {
        let offset = process::page_size() + self.offset_of(position);
        let [_, _, _, _, _, _, low, high] = self.region.word_at(offset).to_ne_bytes();
        usize::from(u16::from_ne_bytes([low, high]))
    }

    fn copy(&self, range: Range<usize>, into: &mut Vec<u8>) {
        let data = process::page_size();
        self.region
            .copy_shared(data + range.start..data + range.end, into);
    }

    fn offset_of(&self, position: u64) -> usize {
        (position & (self.size as u64 - 1)) as usize
    }

    fn head(&self) -> &AtomicU64 {
        &ControlPage::of(&self.region).data_head
    }

    /// The kernel's side of a ring of the fake kernel; there is one.
    pub(crate) fn writer(&self) -> RecordWriter {
        RecordWriter::new(&self.region, self.size, Direction::Backward)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> BackwardRing {
        BackwardRing::anonymous(RingPages::new(1).unwrap()).unwrap()
    }

    /// A record of `size` bytes that says `value`.
    fn record(value: u64, size: u16) -> Vec<u8> {
        let mut bytes = vec![0; 6];
        bytes.extend(size.to_ne_bytes());
        bytes.extend(value.to_ne_bytes());
        bytes.resize(size.into(), 0);
        bytes
    }

    /// The values of the records, in their order in the ring.
    fn values(ring: &BackwardRing) -> Vec<u64> {
        let mut bytes = Vec::new();
        assert_eq!(ring.copy_records(&mut bytes), bytes.len());
        let mut values = Vec::new();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let size = u16::from_ne_bytes([rest[6], rest[7]]);
            values.push(u64::from_ne_bytes(rest[8..16].try_into().unwrap()));
            rest = &rest[size.into()..];
        }
        values
    }

    #[test]
    fn the_newest_record_comes_first() {
        let ring = ring();
        let mut writer = ring.writer();
        assert_eq!(values(&ring), []);
        for value in 1..=3 {
            writer.write(&record(value, 24));
        }
        assert_eq!(values(&ring), [3, 2, 1]);
    }

    #[test]
    fn a_record_is_new_once() {
        let ring = ring();
        let mut writer = ring.writer();
        let (mut seen, mut lengths) = (0, Vec::new());
        for count in [2, 0, 3, 1000] {
            for value in 0..count {
                writer.write(&record(value, 24));
            }
            lengths.push(ring.copy_new_records(&mut seen, &mut Vec::new()));
        }
        let whole = ring.size() / 24 * 24;
        assert_eq!(lengths, [48, 0, 72, whole]);
    }

    #[test]
    fn what_was_overwritten_in_part_is_left_out() {
        let ring = ring();
        let mut writer = ring.writer();
        let per_lap = ring.size() / 24;
        assert_ne!(ring.size() % 24, 0);
        for value in 0..1000 {
            writer.write(&record(value, 24));
            let values = values(&ring);
            assert!(values.len() <= per_lap);
            assert!(
                values
                    .iter()
                    .copied()
                    .eq((0..=value).rev().take(values.len()))
            );
            assert!(values.len() as u64 > value || values.len() == per_lap);
        }
    }

    #[test]
    fn sizes_that_make_no_sense_end_the_walk() {
        for size in [0, 4, 12] {
            let ring = ring();
            let mut writer = ring.writer();
            writer.write(&record(1, 16));
            let mut broken = record(2, 16);
            broken[6..8].copy_from_slice(&u16::to_ne_bytes(size));
            writer.write(&broken);
            writer.write(&record(3, 16));
            assert_eq!(values(&ring), [3], "{size}");
        }
    }
}
