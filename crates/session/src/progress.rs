//! How far a walk over a recording has come, for those who show it or give memory back.

use oxperf_abi::FileOffset;

/// Observes how far a walk has come.
pub trait ProgressObserver {
    /// The walk has read up to `offset` of a file, the first one of a directory or the `part`-th of those beside it.
    /// Records a little before it may still wait for their turn.
    fn passed(&self, part: usize, offset: FileOffset);
}

/// Calls a [`ProgressObserver`] every few megabytes.
#[derive(Clone, Copy)]
pub(crate) struct Milestones<'w> {
    observer: Option<&'w dyn ProgressObserver>,
    part: usize,
    next: u64,
}

/// Bytes between two calls.
const STEP: u64 = 1 << 20;

impl<'w> Milestones<'w> {
    /// Calls nobody.
    pub(crate) fn new() -> Milestones<'w> {
        Milestones {
            observer: None,
            part: 0,
            next: u64::MAX,
        }
    }

    /// Calls `observer`.
    pub(crate) fn of(observer: &'w dyn ProgressObserver) -> Milestones<'w> {
        Milestones {
            observer: Some(observer),
            part: 0,
            next: 0,
        }
    }

    /// The record at `offset` is read.
    #[inline]
    pub(crate) fn reach(&mut self, offset: FileOffset) {
        if offset.0 >= self.next {
            self.report(offset);
        }
    }

    #[cold]
    fn report(&mut self, offset: FileOffset) {
        if let Some(observer) = self.observer {
            observer.passed(self.part, offset);
            self.next = offset.0.saturating_add(STEP);
        }
    }

    /// The next file begins.
    pub(crate) fn next_part(&mut self) {
        self.part += 1;
        self.next = if self.observer.is_some() { 0 } else { u64::MAX };
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

    impl ProgressObserver for Log {
        fn passed(&self, part: usize, offset: FileOffset) {
            self.0.borrow_mut().push((part, offset.0));
        }
    }

    #[test]
    fn every_megabyte_of_every_file_is_reported_once() {
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
