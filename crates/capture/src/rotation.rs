//! When a recording goes on in a new file.

use std::time::Instant;

use crate::options::{Rotation, SwitchCause};

/// Who asked for the next file since the last time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Asked {
    /// The signal came.
    pub(crate) by_signal: bool,
    /// An event that is watched for this occurred.
    pub(crate) by_event: bool,
}

/// Watches a file for what begins the next one.
#[derive(Debug)]
pub(crate) struct SwitchTrigger {
    cause: Option<SwitchCause>,
    /// The beginning of the file.
    since: Instant,
}

impl SwitchTrigger {
    /// A file begins now; `None` for a recording of one file.
    pub(crate) fn new(rotation: Option<Rotation>) -> SwitchTrigger {
        SwitchTrigger {
            cause: rotation.map(|rotation| rotation.cause),
            since: Instant::now(),
        }
    }

    /// The next file begins now.
    pub(crate) fn restart(&mut self) {
        self.since = Instant::now();
    }

    /// Returns whether a file of `size` bytes is at its end. An event ends any file of several, the signal one that has no
    /// other end.
    pub(crate) fn is_due(&self, size: u64, asked: Asked) -> bool {
        let Some(cause) = self.cause else {
            return false;
        };
        let has_come = match cause {
            SwitchCause::Signal => asked.by_signal,
            SwitchCause::Size(most) => size > most,
            SwitchCause::Time(_) => self.moment().is_some_and(|moment| Instant::now() >= moment),
        };
        has_come || asked.by_event
    }

    /// The moment at which the file is at its end, where that is known.
    pub(crate) fn moment(&self) -> Option<Instant> {
        match self.cause {
            Some(SwitchCause::Time(age)) => self.since.checked_add(age),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn trigger(cause: SwitchCause) -> SwitchTrigger {
        SwitchTrigger::new(Some(Rotation {
            cause,
            most_files: None,
        }))
    }

    const BY_SIGNAL: Asked = Asked {
        by_signal: true,
        by_event: false,
    };
    const BY_EVENT: Asked = Asked {
        by_signal: false,
        by_event: true,
    };

    #[test]
    fn each_cause_ends_a_file_alone() {
        let nobody = Asked::default();
        let signal = trigger(SwitchCause::Signal);
        assert!(signal.is_due(0, BY_SIGNAL) && signal.is_due(0, BY_EVENT));
        assert!(!signal.is_due(u64::MAX, nobody));
        let size = trigger(SwitchCause::Size(10));
        assert!(size.is_due(11, nobody) && size.is_due(0, BY_EVENT));
        assert!(!size.is_due(10, BY_SIGNAL));
        let none = SwitchTrigger::new(None);
        assert!(!none.is_due(u64::MAX, BY_EVENT) && none.moment().is_none());
    }

    #[test]
    fn age_is_counted_from_the_beginning_of_the_file() {
        let hour = Duration::from_secs(3600);
        let mut time = trigger(SwitchCause::Time(hour));
        assert!(!time.is_due(u64::MAX, BY_SIGNAL));
        time.since -= hour;
        assert!(time.is_due(0, Asked::default()));
        time.restart();
        assert!(!time.is_due(0, BY_SIGNAL) && time.moment() > Some(Instant::now()));
    }
}
