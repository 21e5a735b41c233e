//! The time of moments between two times that the trace has.

use std::num::{NonZeroU8, NonZeroU32};

use crate::item::Tsc;

/// The speed of the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The core to bus ratio, if it is known.
    pub(crate) ratio: Option<NonZeroU8>,
    pub(crate) max_non_turbo_ratio: Option<NonZeroU32>,
}

/// The time that was known last, and how many instructions ran since.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    pub(crate) known: Option<Tsc>,
    pub(crate) since: u64,
    /// True if the time was known since decoding began or was resumed.
    pub(crate) is_whole: bool,
    pub(crate) pace: Pace,
}

impl Guess {
    /// True if the time was known since decoding began or was resumed.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The time that was known, and two ticks at the base frequency for each instruction since. `before` is the number of
    /// those that ran before decoding was resumed: they count if the time was not known since.
    pub fn time(&self, before: u64) -> Option<Tsc> {
        let since = if self.is_whole {
            self.since
        } else {
            self.since.saturating_add(before)
        };
        let Pace {
            ratio,
            max_non_turbo_ratio,
        } = self.pace;
        let mut ticks = u128::from(since) * 2;
        if let (Some(ratio), Some(max_non_turbo_ratio)) = (ratio, max_non_turbo_ratio) {
            ticks = ticks * u128::from(max_non_turbo_ratio.get()) / u128::from(ratio.get());
        }
        self.known
            .map(|known| Tsc(known.0.wrapping_add(ticks as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_before_count_until_the_time_is_known() {
        let pace = Pace {
            ratio: NonZeroU8::new(12),
            max_non_turbo_ratio: NonZeroU32::new(24),
        };
        let guess = Guess {
            known: Some(Tsc(100)),
            since: 3,
            is_whole: false,
            pace,
        };
        assert_eq!(guess.time(2), Some(Tsc(120)));
        assert_eq!(
            Guess {
                is_whole: true,
                ..guess
            }
            .time(2),
            Some(Tsc(112))
        );
        assert_eq!(
            Guess {
                known: None,
                ..guess
            }
            .time(2),
            None
        );
        let unknown = Pace {
            ratio: None,
            ..pace
        };
        assert_eq!(
            Guess {
                pace: unknown,
                ..guess
            }
            .time(0),
            Some(Tsc(106))
        );
    }
}
