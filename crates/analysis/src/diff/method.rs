//! How a change is told: as a number that is shown, and that rows are ordered by.

use oxperf_profile::percent;

use super::DiffChange;

/// How the change of a row is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The difference of the shares of all, in hundredths; ordered from growth to decline.
    Delta,
    /// The same, ordered by how great the difference is.
    DeltaAbs,
    /// The new period by the old one.
    Ratio,
    /// The difference of the periods, each times a weight.
    Weighted {
        /// The baseline's weight.
        old: i64,
        /// The other side's weight.
        new: i64,
    },
    /// The stretches of code between branches, each with how its cycles changed; see [`super::stretches()`]. Rows themselves
    /// have no change, and are ordered by the baseline.
    Cycles,
}

impl Method {
    /// The change as a number. Where the baseline has not the row, a ratio is to a period of 1.
    pub fn value(self, change: DiffChange) -> f64 {
        match self {
            Method::Delta | Method::DeltaAbs => delta(change),
            Method::Ratio => {
                change.new as f64 / change.old.filter(|&old| old > 0).unwrap_or(1) as f64
            }
            Method::Weighted { .. } => self.weighted(change).unwrap_or(0) as f64,
            Method::Cycles => 0.0,
        }
    }

    /// The weighted difference as a whole number; `None` for the other methods.
    pub fn weighted(self, change: DiffChange) -> Option<i64> {
        let Method::Weighted { old, new } = self else {
            return None;
        };
        let period = |period: u64, weight: i64| period.cast_signed().wrapping_mul(weight);
        Some(period(change.new, new).wrapping_sub(period(change.old.unwrap_or(0), old)))
    }

    /// What rows are ordered by, the greatest first.
    pub(super) fn rank(self, change: DiffChange) -> f64 {
        let value = self.value(change);
        if self == Method::DeltaAbs {
            value.abs()
        } else {
            value
        }
    }

    /// True if the change says something of a row that the baseline has not.
    pub fn is_of_new_rows(self) -> bool {
        matches!(self, Method::Delta | Method::DeltaAbs)
    }
}

fn delta(change: DiffChange) -> f64 {
    percent(change.new, change.new_total) - percent(change.old.unwrap_or(0), change.old_total)
}
