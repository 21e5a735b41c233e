//! Which instruction is the next to be sampled.

use crate::config::Period;

/// Chooses instructions by their number or by time.
///
/// Time passes in ticks; between two times that the trace tells, each instruction counts as a tick.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sampler {
    /// No samples.
    Off,
    /// By number: instructions since the last sample.
    Count { period: u64, since: u64 },
    /// By time.
    Ticks(Ticks),
}

/// Sampling in periods of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// A power of two.
    period: u64,
    /// The beginning of the last period that has a sample.
    last: u64,
    /// Tracing was not interrupted since the last period was chosen.
    continuous: bool,
}

impl Sampler {
    pub(crate) fn new(period: Option<Period>) -> Sampler {
        match period {
            None => Sampler::Off,
            Some(Period::Instructions(period)) => Sampler::Count { period: period.max(1), since: 0 },
            Some(Period::Ticks(ticks)) => {
                Sampler::Ticks(Ticks { period: 1 << ticks.max(1).ilog2(), last: 0, continuous: false })
            }
        }
    }

    /// How many instructions from here on make the next sample: at least 1. `now` is the time in ticks, with the
    /// instructions since it was told.
    #[inline]
    pub(crate) fn distance(&mut self, now: u64) -> u64 {
        match self {
            Sampler::Off => u64::MAX,
            Sampler::Count { period, since } => *period - *since,
            Sampler::Ticks(ticks) => ticks.distance(now),
        }
    }

    /// So many instructions ran, fewer than to the next sample.
    #[inline]
    pub(crate) fn pass(&mut self, instructions: u64) {
        if let Sampler::Count { since, .. } = self {
            *since += instructions;
        }
    }

    /// An instruction is sampled; `now` is the time with it.
    pub(crate) fn sampled(&mut self, now: u64) {
        match self {
            Sampler::Off => {}
            Sampler::Count { since, .. } => *since = 0,
            Sampler::Ticks(ticks) => ticks.sampled(now),
        }
    }

    /// Tracing stopped.
    pub(crate) fn interrupt(&mut self) {
        if let Sampler::Ticks(ticks) = self {
            ticks.continuous = false;
        }
    }
}

impl Ticks {
    const fn begin(&self, time: u64) -> u64 {
        time & !(self.period - 1)
    }

    fn distance(&mut self, mut now: u64) -> u64 {
        if self.continuous {
            if self.begin(now) > self.last {
                return 1;
            }
        } else {
            now = now.wrapping_add(1);
            if self.begin(now) > self.last {
                self.last = self.begin(now);
                self.continuous = true;
            }
        }
        if self.begin(now) < self.last {
            return self.period;
        }
        self.period - (now - self.begin(now))
    }

    fn sampled(&mut self, now: u64) {
        if self.begin(now) > self.last {
            self.last = self.begin(now);
        } else {
            self.last = self.last.wrapping_add(self.period);
        }
    }
}
