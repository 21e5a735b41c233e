//! The times that `script` shows: as recorded, since the first, or since the one before.

/// From which moment times are told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ShownTime {
    /// As recorded.
    #[default]
    Recorded,
    /// Since the first that is shown (`--reltime`); `None` before it.
    SinceFirst(Option<u64>),
    /// Since the one shown before (`--deltatime`).
    SincePrevious(Option<u64>),
}

impl ShownTime {
    /// What to show for a time, ns. Records that tools wrote have the time 0, which is no moment.
    pub fn shown(&mut self, time: u64) -> u64 {
        match self {
            ShownTime::Recorded => time,
            ShownTime::SinceFirst(first) => {
                let start = *first.get_or_insert(time);
                *first = first.filter(|time| *time != 0);
                time.saturating_sub(start)
            }
            ShownTime::SincePrevious(previous) => {
                let start = previous.filter(|time| *time != 0).unwrap_or(time);
                *previous = Some(time);
                time.saturating_sub(start)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut clock: ShownTime, times: [u64; 4]) -> [u64; 4] {
        times.map(|time| clock.shown(time))
    }

    #[test]
    fn each_has_its_own_start() {
        let times = [0, 100, 130, 120];
        assert_eq!(all(ShownTime::Recorded, times), times);
        assert_eq!(all(ShownTime::SinceFirst(None), times), [0, 0, 30, 20]);
        assert_eq!(all(ShownTime::SincePrevious(None), times), [0, 0, 30, 0]);
    }
}
