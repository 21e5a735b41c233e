//! Instructions that ran before each chunk: a worker that samples every so many has to know. One worker reports them to
//! the next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex};

use super::chunk::MAX_AHEAD;
use super::locks::{lock, wait};

/// Instructions before a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CountBefore {
    /// So many.
    Known(u64),
    /// Nobody has found out how many.
    Unknown,
}

impl CountBefore {
    /// Instructions before the next chunk, if so many ran in this one.
    fn behind(self, count: Option<u64>) -> CountBefore {
        match (self, count) {
            (CountBefore::Known(before), Some(count)) => {
                CountBefore::Known(before.wrapping_add(count))
            }
            _ => CountBefore::Unknown,
        }
    }
}

/// The counts so far.
#[derive(Debug)]
struct ReportedCounts {
    /// The number of the first chunk of `before`.
    first: usize,
    before: VecDeque<CountBefore>,
    /// Reports of chunks behind one that is not reported yet.
    reports: BTreeMap<usize, Option<u64>>,
    /// A worker left without a report.
    broken: bool,
}

impl ReportedCounts {
    fn before(&self, number: usize) -> Option<CountBefore> {
        match self.before.get(number.checked_sub(self.first)?) {
            None if self.broken => Some(CountBefore::Unknown),
            before => before.copied(),
        }
    }

    fn go_on(&mut self) {
        loop {
            let last = self.first + self.before.len() - 1;
            let (Some(count), Some(before)) = (self.reports.remove(&last), self.before.back())
            else {
                return;
            };
            self.before.push_back(before.behind(count));
            if self.before.len() > 2 * MAX_AHEAD {
                self.before.pop_front();
                self.first += 1;
            }
        }
    }
}

/// The counts that workers report to each other.
#[derive(Debug)]
pub(super) struct InstructionCounts {
    reported: Mutex<ReportedCounts>,
    more: Condvar,
}

impl InstructionCounts {
    /// So many instructions ran before the first chunk.
    pub(super) fn new(before: u64) -> InstructionCounts {
        let reported = ReportedCounts {
            first: 0,
            before: VecDeque::from([CountBefore::Known(before)]),
            reports: BTreeMap::new(),
            broken: false,
        };
        InstructionCounts {
            reported: Mutex::new(reported),
            more: Condvar::new(),
        }
    }

    /// The count before a chunk, if it is reported already.
    pub(super) fn before(&self, number: usize) -> Option<CountBefore> {
        lock(&self.reported).before(number)
    }

    /// The count before a chunk, once it is reported.
    pub(super) fn wait(&self, number: usize) -> CountBefore {
        let mut reported = lock(&self.reported);
        loop {
            match reported.before(number) {
                Some(before) => return before,
                None => reported = wait(&self.more, reported),
            }
        }
    }

    /// Reports the instructions of a chunk; `None` if they could not be found out.
    pub(super) fn report(&self, number: usize, count: Option<u64>) {
        let mut reported = lock(&self.reported);
        reported.reports.insert(number, count);
        reported.go_on();
        drop(reported);
        self.more.notify_all();
    }

    /// Corrects the count before a chunk, if it was not known.
    pub(super) fn correct(&self, number: usize, before: u64) {
        let mut reported = lock(&self.reported);
        let first = reported.first;
        let Some(index) = number
            .checked_sub(first)
            .filter(|index| *index < reported.before.len())
        else {
            return;
        };
        if reported.before[index] == CountBefore::Unknown {
            // Later counts were worked out from it, and are not known either.
            reported.before.truncate(index);
            reported.before.push_back(CountBefore::Known(before));
        }
    }

    /// Notes that a worker left without a report for its chunk.
    pub(super) fn break_off(&self) {
        lock(&self.reported).broken = true;
        self.more.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_reported_in_any_order() {
        let counts = InstructionCounts::new(10);
        assert_eq!(
            (counts.before(0), counts.before(1)),
            (Some(CountBefore::Known(10)), None)
        );
        counts.report(1, Some(7));
        assert_eq!(counts.before(2), None);
        counts.report(0, Some(5));
        assert_eq!(counts.wait(1), CountBefore::Known(15));
        assert_eq!(counts.wait(2), CountBefore::Known(22));
    }

    #[test]
    fn an_unknown_count_stays_so_till_it_is_corrected() {
        let counts = InstructionCounts::new(0);
        counts.report(0, None);
        counts.report(1, Some(3));
        assert_eq!(counts.wait(2), CountBefore::Unknown);
        counts.correct(2, 40);
        counts.report(2, Some(2));
        assert_eq!(
            (counts.wait(2), counts.wait(3)),
            (CountBefore::Known(40), CountBefore::Known(42))
        );
        counts.break_off();
        assert_eq!(counts.wait(4), CountBefore::Unknown);
    }
}
