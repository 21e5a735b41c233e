//! The protocol of head and tail, apart from the memory that they are about: it decides which bytes each side may touch.
//!
//! Positions only grow; their remainder by the size is the offset. The kernel publishes the head behind what it wrote and never
//! writes between tail and head; this side publishes the tail behind what it has read.

use std::ops::Range;

/// The two positions that both sides see.
pub(super) trait Shared {
    /// The kernel's position. Reads that follow see all that was written before it was published (acquire).
    fn head(&self) -> u64;
    /// Publishes our position. Reads that came before it are over (release).
    fn set_tail(&self, tail: u64);
}

/// The reading side of a ring.
#[derive(Debug)]
pub(super) struct Cursor {
    size: usize,
    /// Our position, which only we move; the shared one is the copy for the kernel.
    tail: u64,
}

impl Cursor {
    /// Reads a ring of `size` bytes, a power of two, from `tail` on.
    pub(super) fn new(size: usize, tail: u64) -> Cursor {
        Cursor { size, tail }
    }

    /// The ring's bytes.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Position of the oldest byte that waits.
    pub(super) fn position(&self) -> u64 {
        self.tail
    }

    /// Offset of a position in the ring.
    pub(super) fn offset_of(&self, position: u64) -> usize {
        (position & (self.size as u64 - 1)) as usize
    }

    /// Bytes that wait to be consumed.
    pub(super) fn pending(&self, shared: &impl Shared) -> usize {
        let length = shared.head().wrapping_sub(self.tail);
        usize::try_from(length).unwrap_or(usize::MAX).min(self.size)
    }

    /// The offsets of these bytes: two pieces, the second of which is empty unless they go around the end. They are ours
    /// until they are consumed.
    pub(super) fn available(&self, shared: &impl Shared) -> [Range<usize>; 2] {
        let length = self.pending(shared);
        let start = self.offset_of(self.tail);
        let first = length.min(self.size - start);
        [start..start + first, 0..length - first]
    }

    /// Gives the oldest `length` bytes back; more than is pending counts as all of it.
    pub(super) fn consume(&mut self, shared: &impl Shared, length: usize) {
        self.tail = self
            .tail
            .wrapping_add(length.min(self.pending(shared)) as u64);
        shared.set_tail(self.tail);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    use oxperf_testkit::{Turn, every_order};

    use super::*;

    /// A ring of single-byte records, whose positions begin before the end of the ring or of all numbers.
    struct Ring {
        cells: [AtomicU64; 2],
        head: AtomicU64,
        tail: AtomicU64,
        /// Records that could not be written, as the kernel counts them.
        lost: AtomicUsize,
        read: Mutex<Vec<u64>>,
    }

    /// The ring as one thread sees it.
    struct Seen<'a>(&'a Ring, &'a Turn<'a>);

    impl Shared for Seen<'_> {
        fn head(&self) -> u64 {
            self.1.step();
            self.0.head.load(Ordering::Acquire)
        }

        fn set_tail(&self, tail: u64) {
            self.1.step();
            self.0.tail.store(tail, Ordering::Release);
        }
    }

    /// Writes as the kernel does: looks at the tail, writes where there is space, publishes the head.
    fn write(ring: &Ring, turn: &Turn<'_>) {
        for record in 1..=3 {
            turn.step();
            let tail = ring.tail.load(Ordering::Acquire);
            let head = ring.head.load(Ordering::Relaxed);
            if head.wrapping_sub(tail) == ring.cells.len() as u64 {
                ring.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            turn.step();
            ring.cells[head as usize % ring.cells.len()].store(record, Ordering::Relaxed);
            turn.step();
            ring.head.store(head.wrapping_add(1), Ordering::Release);
        }
    }

    fn pass(seen: &Seen<'_>, cursor: &mut Cursor) {
        let ranges = cursor.available(seen);
        let length = ranges.iter().map(ExactSizeIterator::len).sum();
        for cell in ranges.into_iter().flatten() {
            seen.1.step();
            let record = seen.0.cells[cell].load(Ordering::Relaxed);
            seen.0.read.lock().unwrap().push(record);
        }
        if length > 0 {
            cursor.consume(seen, length);
        }
    }

    /// A record is read once, in order and whole, whatever happens between a look at the head and the tail's move; the last
    /// pass, when nobody writes, finds the rest.
    #[test]
    fn records_are_read_once_and_in_order_whatever_the_kernel_does_meanwhile() {
        for start in [1, u64::MAX] {
            let make = || Ring {
                cells: [const { AtomicU64::new(0) }; 2],
                head: AtomicU64::new(start),
                tail: AtomicU64::new(start),
                lost: AtomicUsize::new(0),
                read: Mutex::default(),
            };
            let read = |ring: &Ring, turn: &Turn<'_>| {
                let mut cursor = Cursor::new(2, start);
                pass(&Seen(ring, turn), &mut cursor);
                pass(&Seen(ring, turn), &mut cursor);
            };
            let (lossy, busy) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let orders = every_order(make, &[&write, &read], |ring| {
                let first = ring.read.lock().unwrap().len();
                read_the_rest(ring);
                let read = ring.read.lock().unwrap();
                let lost = ring.lost.load(Ordering::Relaxed);
                assert!(read.is_sorted_by(|one, next| one < next), "{read:?}");
                assert_eq!(read.len() + lost, 3, "{read:?}");
                assert!(read.iter().all(|record| (1..=3).contains(record)));
                lossy.fetch_add(usize::from(lost > 0), Ordering::Relaxed);
                busy.fetch_add(usize::from((1..3).contains(&first)), Ordering::Relaxed);
            });
            let (lossy, busy) = (lossy.into_inner(), busy.into_inner());
            assert!(
                lossy > 0 && lossy < orders && busy > 0,
                "{lossy} and {busy} of {orders}"
            );
        }
    }

    /// One more pass, with nobody beside it.
    fn read_the_rest(ring: &Ring) {
        let rest = |ring: &&Ring, turn: &Turn<'_>| {
            pass(
                &Seen(ring, turn),
                &mut Cursor::new(2, ring.tail.load(Ordering::Relaxed)),
            );
        };
        every_order(|| ring, &[&rest], |_| ());
    }
}
