//! What rows and branches weigh.

use std::ops::{AddAssign, SubAssign};

/// An amount of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleTotals {
    /// Sum of the samples' periods.
    pub period: u64,
    /// Number of samples.
    pub samples: u64,
    /// Sum of their shares of the time that passed, see [`SampleGroup::latency`](crate::SampleGroup::latency).
    pub latency: u64,
}

impl AddAssign for SampleTotals {
    #[inline]
    fn add_assign(&mut self, other: SampleTotals) {
        self.period = self.period.wrapping_add(other.period);
        self.samples += other.samples;
        self.latency = self.latency.wrapping_add(other.latency);
    }
}

impl SubAssign for SampleTotals {
    #[inline]
    fn sub_assign(&mut self, other: SampleTotals) {
        self.period = self.period.wrapping_sub(other.period);
        self.samples = self.samples.saturating_sub(other.samples);
        self.latency = self.latency.wrapping_sub(other.latency);
    }
}
