//! What a counter says when it is read.

/// A count with the times that `PERF_FORMAT_TOTAL_TIME_ENABLED` and `PERF_FORMAT_TOTAL_TIME_RUNNING` add to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct CountReading {
    /// Events so far.
    pub value: u64,
    /// Nanoseconds in which the event was enabled.
    pub enabled: u64,
    /// Nanoseconds in which it had a counter: fewer than `enabled` where events shared counters.
    pub running: u64,
}

impl CountReading {
    /// Returns what was counted between an earlier reading and this one. Counters wrap.
    #[must_use]
    pub fn since(self, earlier: CountReading) -> CountReading {
        CountReading {
            value: self.value.wrapping_sub(earlier.value),
            enabled: self.enabled.wrapping_sub(earlier.enabled),
            running: self.running.wrapping_sub(earlier.running),
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: CountReading) -> CountReading {
        CountReading {
            value: self.value.wrapping_add(other.value),
            enabled: self.enabled.wrapping_add(other.enabled),
            running: self.running.wrapping_add(other.running),
        }
    }

    /// Returns whether the event counted at all.
    pub fn is_counted(self) -> bool {
        self.enabled > 0 && self.running > 0
    }

    /// Returns the reading with its count estimated for the whole time in which the event was enabled, rounded down. An
    /// event that never had a counter counts nothing.
    #[must_use]
    pub fn scaled(self) -> CountReading {
        let value = if self.running == 0 {
            0
        } else if self.running < self.enabled {
            (self.value as f64 * self.enabled as f64 / self.running as f64) as u64
        } else {
            self.value
        };
        CountReading { value, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(value: u64, enabled: u64, running: u64) -> CountReading {
        CountReading {
            value,
            enabled,
            running,
        }
    }

    #[test]
    fn a_shared_counter_is_scaled_and_a_waiting_one_counts_nothing() {
        assert_eq!(reading(7, 10, 3).scaled().value, 23);
        assert_eq!(reading(7, 10, 10).scaled().value, 7);
        assert_eq!(reading(7, 10, 0).scaled().value, 0);
        assert!(!reading(7, 10, 0).is_counted() && !CountReading::default().is_counted());
    }

    #[test]
    fn differences_and_sums_wrap() {
        let (early, late) = (reading(u64::MAX, 5, 5), reading(1, 9, 7));
        assert_eq!(late.since(early), reading(2, 4, 2));
        assert_eq!(early.plus(late.since(early)), late);
    }
}
