//! How far a walk over a recording has come, for those who show it or give memory back.

use oxperf_abi::FileOffset;

/// Is told now and then how far a walk has come.
pub trait Watch {
    /// The walk has read up to `offset` of a file, the first one of a directory or the `part`-th of those beside it.
    /// Records a little before it may still wait for their turn.
    fn passed(&self, part: usize, offset: FileOffset);
}

/// Tells a [`Watch`] every few megabytes.
#[derive(Clone, Copy)]
pub(crate) struct Milestones<'w> {
    watch: Option<&'w dyn Watch>,
    part: usize,
    next: u64,
}

/// Bytes between two calls.
const STEP: u64 = 1 << 20;

impl<'w> Milestones<'w> {
    /// Tells nobody.
    pub(crate) fn new() -> Milestones<'w> {
        Milestones {
            watch: None,
            part: 0,
            next: u64::MAX,
        }
    }

    /// Tells `watch`.
    pub(crate) fn of(watch: &'w dyn Watch) -> Milestones<'w> {
        Milestones {
            watch: Some(watch),
            part: 0,
            next: 0,
        }
    }

    /// The record at `offset` is read.
    #[inline]
    pub(crate) fn reach(&mut self, offset: FileOffset) {
        if offset.0 >= self.next {
            self.tell(offset);
        }
    }

    #[cold]
    fn tell(&mut self, offset: FileOffset) {
        if let Some(watch) = self.watch {
            watch.passed(self.part, offset);
            self.next = offset.0.saturating_add(STEP);
        }
    }

    /// The next file begins.
    pub(crate) fn next_part(&mut self) {
        self.part += 1;
        self.next = if self.watch.is_some() { 0 } else { u64::MAX };
    }
}

impl std::fmt::Debug for Milestones<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Milestones")
            .field("part", &self.part)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    struct Log(RefCell<Vec<(usize, u64)>>);

    impl Watch for Log {
        fn passed(&self, part: usize, offset: FileOffset) {
            self.0.borrow_mut().push((part, offset.0));
        }
    }

    #[test]
    fn every_megabyte_of_every_file_is_told_once() {
        let log = Log(RefCell::default());
        let mut milestones = Milestones::of(&log);
        for offset in [100, 200, STEP, STEP + 150, STEP + 160] {
            milestones.reach(FileOffset(offset));
        }
        milestones.next_part();
        for offset in [8, STEP] {
            milestones.reach(FileOffset(offset));
        }
        assert_eq!(*log.0.borrow(), [(0, 100), (0, STEP + 150), (1, 8)]);
    }
}
