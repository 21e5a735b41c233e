//! The newest trace of an area that the hardware writes over and over.
//!
//! The kernel says where in the area the newest byte is, and not how often the hardware came around. Whether it did since
//! the last snapshot shows in the area: bytes that stood before the head then stand there no more, or there is trace at the
//! end of the area, where nothing was.

use std::ops::Range;

use oxperf_sys::AuxSnapshotRing;

/// Snapshots up to this size look at the end of the area; larger ones remember what stood before the head.
const SMALL_SNAPSHOT: usize = 64 << 10;
/// The most that is remembered.
const LONGEST_MARK: usize = 256 << 10;
/// The part of the area at whose end nothing stands until the hardware gets there.
const END_OF_AREA: usize = 4096;

/// The newest trace of an area, snapshot after snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotHead {
    /// Bytes of a snapshot.
    size: usize,
    mark: Mark,
    /// The end of the last snapshot, in bytes of the whole trace as far as they are known.
    end: u64,
}

/// What shows that the hardware came around.
#[derive(Debug)]
enum Mark {
    /// Trace at the end of the area. There it stays.
    EndOfArea { is_written: bool },
    /// Other bytes than these.
    Bytes { place: usize, bytes: Vec<u8> },
}

/// A snapshot of an area.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot {
    /// The place of its first byte in the whole trace.
    pub(crate) position: u64,
    pub(crate) bytes: Vec<u8>,
}

impl SnapshotHead {
    /// For snapshots of up to `size` bytes of an area of `area` bytes, of a trace that has `psb_bytes` between two PSB packets.
    pub(crate) fn new(size: usize, area: usize, psb_bytes: u64) -> SnapshotHead {
        let wanted = psb_bytes.saturating_mul(2).min(LONGEST_MARK as u64) as usize;
        let fits = wanted > 0 && wanted <= size / 2 && wanted < area;
        let mark = match size > SMALL_SNAPSHOT && fits {
            // A fresh area has zeros.
            true => Mark::Bytes {
                place: area - wanted,
                bytes: vec![0; wanted],
            },
            false => Mark::EndOfArea { is_written: false },
        };
        SnapshotHead { size, mark, end: 0 }
    }

    /// Copies the newest trace that was not in the last snapshot, as far as the area still has it. The event must be still.
    pub(crate) fn take(&mut self, ring: &AuxSnapshotRing) -> Snapshot {
        let area = ring.size();
        let head = (ring.position() % area as u64) as usize;
        let came_around = self.came_around(ring, head);
        let before = (self.end % area as u64) as usize;
        let fresh = match came_around {
            true => area,
            false if before > head => area - before + head,
            false => head - before,
        };
        // The hardware may have come around unseen; what is told of positions grows by what is seen.
        self.end = match came_around || before > head {
            true => (head + area) as u64,
            false => head as u64,
        };
        let length = fresh.min(self.size);
        let mut bytes = Vec::with_capacity(length);
        for range in before_head(head, length, area) {
            ring.copy(range, &mut bytes);
        }
        Snapshot {
            position: self.end - length as u64,
            bytes,
        }
    }

    fn came_around(&mut self, ring: &AuxSnapshotRing, head: usize) -> bool {
        let area = ring.size();
        match &mut self.mark {
            Mark::EndOfArea { is_written } => {
                *is_written = *is_written || has_end(ring);
                *is_written
            }
            Mark::Bytes { place, bytes } => {
                let length = bytes.len();
                let mut now = Vec::with_capacity(length);
                for range in from(*place, length, area) {
                    ring.copy(range, &mut now);
                }
                let is_other = now != *bytes;
                bytes.clear();
                for range in before_head(head, length, area) {
                    ring.copy(range, bytes);
                }
                *place = (head + area - length) % area;
                is_other
            }
        }
    }
}

fn has_end(ring: &AuxSnapshotRing) -> bool {
    let (area, mut end) = (ring.size(), Vec::new());
    ring.copy(area.saturating_sub(END_OF_AREA)..area, &mut end);
    end.iter().any(|byte| *byte != 0)
}

/// The pieces of an area that hold the `length` bytes before `head`.
fn before_head(head: usize, length: usize, area: usize) -> [Range<usize>; 2] {
    from((head + area - length) % area, length, area)
}

/// The pieces of an area that hold the `length` bytes from `place` on.
fn from(place: usize, length: usize, area: usize) -> [Range<usize>; 2] {
    let first = length.min(area - place);
    [place..place + first, 0..length - first]
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::EventAttr;
    use oxperf_sys::{AuxPages, EventTask, FakeKernel, Kernel, OpenRequest, RingPages};

    /// An area of so many pages, and the kernel that writes there.
    fn area(pages: usize) -> (FakeKernel, AuxSnapshotRing) {
        let kernel = FakeKernel::new().with_aux();
        let attr = EventAttr::default();
        let request = OpenRequest::new(&attr, EventTask::Caller);
        let event = kernel.open(&request).unwrap();
        let pages = AuxPages {
            data: RingPages::new(1).unwrap(),
            aux: RingPages::new(pages).unwrap(),
        };
        let (_records, ring) = kernel.map_aux_snapshot(&event, pages).unwrap();
        (kernel, ring)
    }

    /// Bytes of a trace from `position` on; none of them is 0.
    fn trace(position: usize, length: usize) -> Vec<u8> {
        let byte = |at: usize| (at % 251 + 1) as u8;
        (position..position + length).map(byte).collect()
    }

    /// Writes a trace in pieces and takes a snapshot behind each.
    fn snapshots(head: &mut SnapshotHead, pages: usize, pieces: &[usize]) -> Vec<Snapshot> {
        let (kernel, ring) = area(pages);
        let mut position = 0;
        let mut taken = Vec::new();
        for &length in pieces {
            for piece in trace(position, length).chunks(ring.size()) {
                assert!(kernel.write_aux(0, piece));
            }
            position += length;
            taken.push(head.take(&ring));
        }
        taken
    }

    #[test]
    fn a_small_snapshot_is_the_newest_trace() {
        let area = 2 * 4096;
        let mut head = SnapshotHead::new(area, area, 2048);
        let taken = snapshots(&mut head, 2, &[100, 50, 7000, 2000]);
        assert_eq!((taken[0].position, &taken[0].bytes), (0, &trace(0, 100)));
        assert_eq!((taken[1].position, &taken[1].bytes), (100, &trace(100, 50)));
        // There is trace at the end of the area: it is full as far as anybody knows.
        assert_eq!(taken[3].bytes, trace(9150 - area, area));
    }

    #[test]
    fn a_snapshot_is_not_larger_than_wanted() {
        let mut head = SnapshotHead::new(60, 2 * 4096, 2048);
        let taken = snapshots(&mut head, 2, &[100, 9000]);
        assert_eq!((taken[0].position, &taken[0].bytes), (40, &trace(40, 60)));
        assert_eq!(taken[1].bytes, trace(9040, 60));
    }

    #[test]
    fn a_large_snapshot_sees_that_the_hardware_came_around() {
        let pages = 32;
        let area = pages * 4096;
        let mut head = SnapshotHead::new(area, area, 2048);
        assert!(matches!(head.mark, Mark::Bytes { .. }));
        // The third piece goes around the end, which what stood before the head outlives; the fourth goes over it.
        let taken = snapshots(&mut head, pages, &[area / 2, area / 4, area / 2, 2 * area]);
        let lengths: Vec<usize> = taken.iter().map(|own| own.bytes.len()).collect();
        assert_eq!(lengths, [area / 2, area / 4, area / 2, area]);
        let end = area / 2 + area / 4 + area / 2;
        assert_eq!(taken[2].bytes, trace(end - area / 2, area / 2));
        assert_eq!(taken[3].bytes, trace(end + area, area));
    }

    #[test]
    fn nothing_is_taken_twice() {
        for size in [8192, 128 << 10] {
            let mut head = SnapshotHead::new(size, size, 2048);
            let taken = snapshots(&mut head, size / 4096, &[100, 0]);
            assert_eq!((taken[0].bytes.len(), taken[1].bytes.len()), (100, 0));
        }
    }
}
