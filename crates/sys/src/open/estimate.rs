//! Counts of events that had a counter for a part of the time: scaled to the whole, and from one read to the next.

use crate::{CounterRead, CounterValue};
use oxperf_abi::CountReading;

/// The count of an event, as far as it was counted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Estimate {
    /// The event was counted all the time.
    Whole(u64),
    /// The event was counted for a share of the time, and the count is scaled to all of it.
    Scaled {
        /// The scaled count.
        value: u64,
        /// The share, between 0 and 1.
        share: f64,
    },
    /// The event was never counted: it never had a counter, or was never enabled.
    NotCounted,
}

impl Estimate {
    /// The count; `None` where nothing was counted.
    pub fn value(self) -> Option<u64> {
        match self {
            Estimate::Whole(value) | Estimate::Scaled { value, .. } => Some(value),
            Estimate::NotCounted => None,
        }
    }

    /// Scales a count: `value * enabled / running`, in the floating-point numbers of perf, so that both print the same.
    pub fn new(value: u64, enabled: u64, running: u64) -> Estimate {
        if running == 0 {
            return Estimate::NotCounted;
        }
        if running >= enabled {
            return Estimate::Whole(value);
        }
        let reading = CountReading {
            value,
            enabled,
            running,
        };
        Estimate::Scaled {
            value: reading.scaled().value,
            share: running as f64 / enabled as f64,
        }
    }
}

impl CounterRead {
    /// The count of the member at `index`, 0 for the event itself or the group's leader, scaled to the time enabled. A
    /// group has a counter for each member or none, so that the times are those of all.
    ///
    /// `None` when there is no such member, or when the read has no times to tell.
    pub fn estimate(&self, index: usize) -> Option<Estimate> {
        let value = self.values.get(index)?.value;
        Some(Estimate::new(value, self.enabled?, self.running?))
    }

    /// What was counted since an earlier read of the same event: counts, times and lost samples less those. A counter that was
    /// reset between the reads counts from 0.
    #[must_use]
    pub fn since(&self, earlier: &CounterRead) -> CounterRead {
        let time = |now: Option<u64>, then: Option<u64>| {
            now.map(|now| now.saturating_sub(then.unwrap_or(0)))
        };
        let value = |(index, now): (usize, &CounterValue)| {
            let then = earlier.values.get(index);
            CounterValue {
                value: difference(now.value, then.map_or(0, |then| then.value)),
                id: now.id,
                lost: time(now.lost, then.and_then(|then| then.lost)),
            }
        };
        CounterRead {
            enabled: time(self.enabled, earlier.enabled),
            running: time(self.running, earlier.running),
            values: self.values.iter().enumerate().map(value).collect(),
        }
    }
}

fn difference(now: u64, then: u64) -> u64 {
    now.checked_sub(then).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(times: Option<(u64, u64)>, values: &[u64]) -> CounterRead {
        let value = |&value| CounterValue {
            value,
            id: None,
            lost: None,
        };
        CounterRead {
            enabled: times.map(|(enabled, _)| enabled),
            running: times.map(|(_, running)| running),
            values: values.iter().map(value).collect(),
        }
    }

    #[test]
    fn a_count_is_whole_scaled_or_nothing() {
        assert_eq!(Estimate::new(7, 100, 100), Estimate::Whole(7));
        assert_eq!(Estimate::new(7, 0, 0), Estimate::NotCounted);
        assert_eq!(Estimate::new(0, 100, 0), Estimate::NotCounted);
        let quarter = Estimate::new(1_000_000, 4_000_000, 1_000_000);
        let scaled = Estimate::Scaled {
            value: 4_000_000,
            share: 0.25,
        };
        assert_eq!(quarter, scaled);
        assert_eq!(
            Estimate::new(u64::MAX, u64::MAX, 1).value(),
            Some(u64::MAX),
            "no overflow"
        );
    }

    #[test]
    fn members_share_the_times_of_their_group() {
        let group = read(Some((100, 50)), &[5, 7]);
        let values = [0, 1].map(|index| group.estimate(index).and_then(Estimate::value));
        assert_eq!(values, [Some(10), Some(14)]);
        assert_eq!(group.estimate(2), None);
        assert_eq!(read(None, &[5]).estimate(0), None);
    }

    #[test]
    fn intervals_are_differences() {
        let (earlier, later) = (
            read(Some((100, 40)), &[5, 9]),
            read(Some((300, 90)), &[8, 2]),
        );
        assert_eq!(
            later.since(&earlier),
            read(Some((200, 50)), &[3, 2]),
            "the second was reset"
        );
    }
}
