//! The ring of records: the kernel writes at the head, this side reads at the tail.
//!
//! ```text
//!  control page | data, a power of two of pages
//!                 ......[tail .......... head)......
//! ```
//!
//! The kernel never writes between tail and head ([`super::positions`]), so those bytes can be lent out until
//! [`DataRing::consume`] moves the tail.

use super::counter::CounterPage;
use super::page::{ControlPage, TimeConversion};
use super::positions::{Cursor, Shared};
use super::region::{Access, Backing, Region};
use super::writer::{Direction, RecordWriter};
use crate::{Errno, EventFd, process};
use std::fmt;
use std::ops::Range;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The size of a ring: a power of two of pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RingPages(usize);

impl RingPages {
    /// `count` pages; `None` unless it is a power of two whose bytes can be mapped with the control page.
    pub fn new(count: usize) -> Option<RingPages> {
        let bytes = count.checked_mul(process::page_size())?;
        (count.is_power_of_two() && bytes <= isize::MAX as usize / 2).then_some(RingPages(count))
    }

    /// The smallest size that holds `bytes`.
    pub fn holding(bytes: usize) -> Option<RingPages> {
        RingPages::new(
            bytes
                .div_ceil(process::page_size())
                .checked_next_power_of_two()?,
        )
    }

    /// The number of pages.
    pub fn count(self) -> usize {
        self.0
    }

    /// The bytes of the pages.
    pub fn bytes(self) -> usize {
        self.0 * process::page_size()
    }
}

/// The reason why a ring could not be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RingError {
    /// `EPERM`: more locked memory than `perf_event_mlock_kb` and `RLIMIT_MEMLOCK` allow.
    #[error("a ring of {bytes} bytes is above the limit of locked memory")]
    LockedMemory {
        /// Bytes asked for, without the control page.
        bytes: usize,
    },
    /// Any other answer of the kernel.
    #[error("cannot map a ring of {bytes} bytes: {errno}")]
    Map {
        /// Bytes asked for, without the control page.
        bytes: usize,
        /// The kernel's number.
        errno: Errno,
    },
}

impl RingError {
    /// The error for `bytes` that cannot be mapped.
    pub(super) fn of_mapping(bytes: usize, errno: Errno) -> RingError {
        match errno {
            Errno(libc::EPERM) => RingError::LockedMemory { bytes },
            errno => RingError::Map { bytes, errno },
        }
    }
}

/// A mapped ring of records.
#[derive(Debug)]
pub struct DataRing {
    /// Shared with the AUX area that belongs to the ring, whose positions stand on the same page.
    region: Arc<Region>,
    cursor: Cursor,
    /// The fake kernel, which hears of what was consumed.
    listener: Option<Arc<dyn ConsumeListener>>,
}

/// Somebody who hears that records of a ring were consumed.
pub(crate) trait ConsumeListener: Send + Sync + fmt::Debug {
    /// The tail of the ring has moved.
    fn consumed(&self);
}

impl DataRing {
    /// Maps the ring of `event`.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn map(event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        DataRing::new(Backing::Event(event.as_fd(), 0), pages)
    }

    /// A ring in plain memory that no kernel writes, for the fake kernel.
    pub(crate) fn anonymous(pages: RingPages) -> Result<DataRing, RingError> {
        DataRing::new(Backing::Memory, pages)
    }

    /// Tells `listener` of every consuming.
    pub(crate) fn heard_by(mut self, listener: Arc<dyn ConsumeListener>) -> DataRing {
        self.listener = Some(listener);
        self
    }

    /// The kernel's side of a ring of the fake kernel; there is one.
    pub(crate) fn writer(&self) -> RecordWriter {
        RecordWriter::new(&self.region, self.size(), Direction::Forward)
    }

    fn new(backing: Backing<'_>, pages: RingPages) -> Result<DataRing, RingError> {
        let bytes = pages.bytes();
        let region = Region::map(backing, bytes + process::page_size(), Access::ReadWrite)
            .map_err(|errno| RingError::of_mapping(bytes, errno))?;
        let mut ring = DataRing {
            region: Arc::new(region),
            cursor: Cursor::new(bytes, 0),
            listener: None,
        };
        let tail = ring.control().data_tail.load(Ordering::Relaxed);
        ring.cursor = Cursor::new(bytes, tail);
        Ok(ring)
    }

    /// The bytes of the data pages.
    pub fn size(&self) -> usize {
        self.cursor.size()
    }

    /// Everything the kernel has written and nobody consumed, oldest first: up to two pieces because the ring
    /// wraps. Their concatenation is whole records, back to back, each 8-byte aligned.
    pub fn available(&self) -> (&[u8], &[u8]) {
        let [first, second] = self.cursor.available(&self.control());
        (self.piece(first), self.piece(second))
    }

    /// Bytes that wait to be consumed.
    pub fn pending(&self) -> usize {
        self.cursor.pending(&self.control())
    }

    /// Gives the oldest `length` bytes back to the kernel; more than is pending counts as all of it.
    pub fn consume(&mut self, length: usize) {
        self.cursor.consume(&control(&self.region), length);
        if let Some(listener) = &self.listener {
            listener.consumed();
        }
    }

    /// The conversion of this machine's cycle counter to perf time; `None` when the kernel offers no conversion.
    pub fn time_conversion(&self) -> Option<TimeConversion> {
        ControlPage::of(&self.region).time_conversion()
    }

    /// The page of the event's counter, for reads without a call.
    pub fn counter_page(&self) -> CounterPage {
        CounterPage::of(Arc::clone(&self.region))
    }

    /// The memory of the ring, which begins with its control page.
    pub(super) fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn control(&self) -> Positions<'_> {
        control(&self.region)
    }

    fn data(&self) -> NonNull<u8> {
        // SAFETY: the region holds a control page and then `size` bytes.
        unsafe { self.region.start().add(process::page_size()) }
    }

    /// Bytes of the data pages.
    fn piece(&self, place: Range<usize>) -> &[u8] {
        debug_assert!(place.start <= place.end && place.end <= self.size());
        // SAFETY: the cursor keeps places within the data pages; the kernel does not write between tail and head, and
        // moving the tail needs `&mut self`, which ends this borrow.
        unsafe { slice::from_raw_parts(self.data().add(place.start).as_ptr(), place.len()) }
    }
}

/// The shared positions of a ring's memory.
fn control(region: &Region) -> Positions<'_> {
    let page = ControlPage::of(region);
    Positions {
        data_head: &page.data_head,
        data_tail: &page.data_tail,
    }
}

struct Positions<'a> {
    data_head: &'a AtomicU64,
    data_tail: &'a AtomicU64,
}

impl Shared for Positions<'_> {
    fn head(&self) -> u64 {
        // Acquire: the records' bytes are read only after the head that covers them. Pairs with the kernel's
        // barrier between writing records and publishing the head.
        self.data_head.load(Ordering::Acquire)
    }

    fn set_tail(&self, tail: u64) {
        // Release: our reads of the records happen before the kernel may write there. Pairs with the kernel's
        // reading the tail before it writes.
        self.data_tail.store(tail, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> DataRing {
        DataRing::anonymous(RingPages::new(1).unwrap()).unwrap()
    }

    #[test]
    fn sizes_are_powers_of_two() {
        assert_eq!(RingPages::new(3), None);
        assert_eq!(RingPages::new(0), None);
        assert_eq!(RingPages::new(1 << 62), None);
        let page = process::page_size();
        assert_eq!(RingPages::holding(page + 1).unwrap().count(), 2);
        assert_eq!(RingPages::new(4).unwrap().bytes(), 4 * page);
    }

    #[test]
    fn records_come_out_as_they_went_in() {
        let mut ring = ring();
        let mut writer = ring.writer();
        assert_eq!(ring.available(), (&[][..], &[][..]));
        assert!(writer.write(b"abcdefgh"));
        assert_eq!(ring.available(), (&b"abcdefgh"[..], &[][..]));
        ring.consume(3);
        assert_eq!(ring.available().0, b"defgh");
        ring.consume(99);
        assert_eq!(ring.pending(), 0);
    }

    #[test]
    fn a_wrapped_stretch_is_two_pieces() {
        let mut ring = ring();
        let mut writer = ring.writer();
        let size = ring.size();
        assert!(writer.write(&vec![0; size - 2]));
        ring.consume(size - 2);
        assert!(writer.write(b"abcde"));
        assert_eq!(ring.available(), (&b"ab"[..], &b"cde"[..]));
    }

    #[test]
    fn a_full_ring_takes_no_more() {
        let ring = ring();
        let mut writer = ring.writer();
        assert!(writer.write(&vec![7; ring.size()]));
        assert!(!writer.write(b"x"));
        assert_eq!(ring.available().0.len(), ring.size());
    }

    #[test]
    fn plain_memory_offers_no_clock() {
        assert_eq!(ring().time_conversion(), None);
    }
}
