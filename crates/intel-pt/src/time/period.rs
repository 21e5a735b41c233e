//! The choice of the next instruction to sample.

use crate::config::Period;

/// Chooses instructions by their number or by time.
///
/// Time passes in ticks; between two times that the trace has, each instruction counts as a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sampler {
    /// No samples.
    Off,
    /// By number: instructions since the last sample.
    Count { period: u64, since: u64 },
    /// By time.
    Ticks(Ticks),
}

/// Sampling in periods of time.
#[derive(Clone, Copy, Debug, PartialEq)]
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
            Some(Period::Instructions(period)) => Sampler::Count {
                period: period.max(1),
                since: 0,
            },
            Some(Period::Ticks(ticks)) => Sampler::Ticks(Ticks {
                period: 1 << ticks.max(1).ilog2(),
                last: 0,
                continuous: false,
            }),
        }
    }

    /// Instructions from here to the next sample: at least 1. `now` is the time in ticks, with the
    /// instructions since it was known.
    #[inline]
    pub(super) fn distance(&mut self, now: u64) -> u64 {
        match self {
            Sampler::Off => u64::MAX,
            Sampler::Count { period, since } => *period - *since,
            Sampler::Ticks(ticks) => ticks.distance(now),
        }
    }

    /// The time before which nothing is sampled, if fewer instructions run at once than the second number.
    pub(super) fn quiet(&self) -> (u64, u64) {
        match self {
            Sampler::Off => (u64::MAX, u64::MAX),
            Sampler::Count { .. } => (0, 0),
            // One tick less: where tracing was interrupted samples come so much earlier.
            Sampler::Ticks(ticks) => (ticks.last.saturating_add(ticks.period - 1), ticks.period),
        }
    }

    /// So many instructions ran, fewer than to the next sample.
    #[inline]
    pub(crate) fn pass(&mut self, instructions: u64) {
        if let Sampler::Count { since, .. } = self {
            *since += instructions;
        }
    }

    /// Instructions ran from `start` on, in pieces that end at the numbers in `pieces`, `count` in all: gives the numbers
    /// of those that are sampled. The next sample is chosen anew in each piece.
    pub(crate) fn sample(
        &mut self,
        start: u64,
        pieces: &[u64],
        count: u64,
        mut emit: impl FnMut(u64),
    ) {
        let mut done = 0;
        let mut distance = self.distance(start);
        for &end in pieces {
            while distance <= end - done {
                done += distance;
                self.sampled(start.wrapping_add(done));
                emit(done);
                distance = self.distance(start.wrapping_add(done));
            }
            self.pass(end - done);
            done = end;
            distance = self.distance(start.wrapping_add(done));
        }
        // An instruction that does not fit the trace is not given, but counts.
        match count - done {
            rest if distance <= rest => self.sampled(start.wrapping_add(count)),
            rest => self.pass(rest),
        }
    }

    /// An instruction is sampled; `now` is the time with it.
    fn sampled(&mut self, now: u64) {
        match self {
            Sampler::Off => {}
            Sampler::Count { since, .. } => *since = 0,
            Sampler::Ticks(ticks) => ticks.sampled(now),
        }
    }

    /// The states in which a decoder may be at `now` that has gone on in step with time, or nearly so; for one that goes
    /// by number the one it is in when it takes every instruction.
    pub(crate) fn guesses(&self, now: u64) -> impl Iterator<Item = Sampler> + use<> {
        let known = *self;
        let begin = if let Sampler::Ticks(ticks) = known {
            ticks.begin(now)
        } else {
            0
        };
        (0..Sampler::GUESSES).map_while(move |guess| match known {
            Sampler::Ticks(Ticks { period, .. }) => {
                let last = begin
                    .wrapping_sub(period)
                    .wrapping_add(u64::from(guess / 2) * period);
                Some(Sampler::Ticks(Ticks {
                    period,
                    last,
                    continuous: guess % 2 == 1,
                }))
            }
            other => (guess == 0).then_some(other),
        })
    }

    /// True if it chooses the same instructions as a guess that was made for `now`.
    pub(crate) fn is_like(&self, guess: &Sampler, now: u64) -> bool {
        match (self, guess) {
            (Sampler::Ticks(own), Sampler::Ticks(guess)) => {
                // A period that is over is over, however long.
                let is_over = |ticks: &Ticks| ticks.last < ticks.begin(now);
                own.continuous == guess.continuous
                    && (own.last == guess.last || is_over(own) && is_over(guess))
            }
            (own, guess) => own == guess,
        }
    }

    /// This sampler where so many instructions ran since the beginning.
    pub(crate) fn behind(self, instructions: u64) -> Sampler {
        match self {
            Sampler::Count { period, .. } => Sampler::Count {
                period,
                since: instructions % period,
            },
            other => other,
        }
    }

    /// Guesses that are made at most.
    const GUESSES: u8 = 8;

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
