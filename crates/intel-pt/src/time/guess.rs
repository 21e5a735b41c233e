//! When something happened between two times that the trace tells.

use crate::item::Tsc;

/// How fast the processor ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The core to bus ratio; 0 if it is unknown.
    pub(crate) ratio: u8,
    pub(crate) max_non_turbo_ratio: u32,
}

/// The time that was told last, and how many instructions ran since.
#[derive(Clone, Copy, Debug)]
pub struct Guess {
    pub(crate) told: Option<Tsc>,
    pub(crate) since: u64,
    /// Whether the time was told since decoding began or was resumed.
    pub(crate) is_whole: bool,
    pub(crate) pace: Pace,
}

impl Guess {
    /// Whether the time was told since decoding began or was resumed.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The time that was told, and two ticks at the base frequency for each instruction since. `before` is the number of
    /// those that ran before decoding was resumed: they count if the time was not told since.
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
        if ratio != 0 && max_non_turbo_ratio != 0 {
            ticks = ticks * u128::from(max_non_turbo_ratio) / u128::from(ratio);
        }
        self.told.map(|told| Tsc(told.0.wrapping_add(ticks as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_before_count_until_the_time_is_told() {
        let pace = Pace {
            ratio: 12,
            max_non_turbo_ratio: 24,
        };
        let guess = Guess {
            told: Some(Tsc(100)),
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
                told: None,
                ..guess
            }
            .time(2),
            None
        );
        let unknown = Pace { ratio: 0, ..pace };
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
