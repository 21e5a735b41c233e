//! How many instructions ran before each stretch: whoever samples every so many has to know. One worker tells it to the
//! next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex};

use super::work_queue::{MOST_AHEAD, lock, wait};

/// Instructions before a stretch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Before {
    /// So many.
    Known(u64),
    /// Nobody has found out what ran before.
    Unknown,
}

impl Before {
    /// What is before the next stretch.
    fn behind(self, count: Option<u64>) -> Before {
        match (self, count) {
            (Before::Known(before), Some(count)) => Before::Known(before.wrapping_add(count)),
            _ => Before::Unknown,
        }
    }
}

/// What is known of all stretches.
#[derive(Debug)]
struct Told {
    /// The number of the first stretch of `before`.
    first: usize,
    before: VecDeque<Before>,
    /// What ran in stretches before which others are not told.
    counts: BTreeMap<usize, Option<u64>>,
    /// Somebody will tell nothing any more.
    broken: bool,
}

impl Told {
    fn before(&self, number: usize) -> Option<Before> {
        match self.before.get(number.checked_sub(self.first)?) {
            None if self.broken => Some(Before::Unknown),
            before => before.copied(),
        }
    }

    fn go_on(&mut self) {
        loop {
            let last = self.first + self.before.len() - 1;
            let (Some(count), Some(before)) = (self.counts.remove(&last), self.before.back())
            else {
                return;
            };
            self.before.push_back(before.behind(count));
            if self.before.len() > 2 * MOST_AHEAD {
                self.before.pop_front();
                self.first += 1;
            }
        }
    }
}

/// What workers tell each other.
#[derive(Debug)]
pub(super) struct Counts {
    told: Mutex<Told>,
    more: Condvar,
}

impl Counts {
    /// So many instructions ran before the first stretch.
    pub(super) fn new(before: u64) -> Counts {
        let before = VecDeque::from([Before::Known(before)]);
        let told = Told {
            first: 0,
            before,
            counts: BTreeMap::new(),
            broken: false,
        };
        Counts {
            told: Mutex::new(told),
            more: Condvar::new(),
        }
    }

    /// What ran before a stretch, if it is told already.
    pub(super) fn before(&self, number: usize) -> Option<Before> {
        lock(&self.told).before(number)
    }

    /// What ran before a stretch, once it is told.
    pub(super) fn wait(&self, number: usize) -> Before {
        let mut told = lock(&self.told);
        loop {
            match told.before(number) {
                Some(before) => return before,
                None => told = wait(&self.more, told),
            }
        }
    }

    /// What ran in a stretch; `None` if that could not be found out.
    pub(super) fn tell(&self, number: usize, count: Option<u64>) {
        let mut told = lock(&self.told);
        told.counts.insert(number, count);
        told.go_on();
        drop(told);
        self.more.notify_all();
    }

    /// It was found out what ran before a stretch.
    pub(super) fn correct(&self, number: usize, before: u64) {
        let mut told = lock(&self.told);
        let first = told.first;
        let Some(place) = number
            .checked_sub(first)
            .filter(|place| *place < told.before.len())
        else {
            return;
        };
        if told.before[place] == Before::Unknown {
            // What follows was worked out from it, and is not known either.
            told.before.truncate(place);
            told.before.push_back(Before::Known(before));
        }
    }

    /// Somebody left without having told what ran in its stretch.
    pub(super) fn break_off(&self) {
        lock(&self.told).broken = true;
        self.more.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_told_in_any_order() {
        let counts = Counts::new(10);
        assert_eq!(
            (counts.before(0), counts.before(1)),
            (Some(Before::Known(10)), None)
        );
        counts.tell(1, Some(7));
        assert_eq!(counts.before(2), None);
        counts.tell(0, Some(5));
        assert_eq!(counts.wait(1), Before::Known(15));
        assert_eq!(counts.wait(2), Before::Known(22));
    }

    #[test]
    fn what_is_unknown_stays_so_till_it_is_found_out() {
        let counts = Counts::new(0);
        counts.tell(0, None);
        counts.tell(1, Some(3));
        assert_eq!(counts.wait(2), Before::Unknown);
        counts.correct(2, 40);
        counts.tell(2, Some(2));
        assert_eq!(
            (counts.wait(2), counts.wait(3)),
            (Before::Known(40), Before::Known(42))
        );
        counts.break_off();
        assert_eq!(counts.wait(4), Before::Unknown);
    }
}
