//! When a recording goes on in a new file.

use std::time::Instant;

use crate::options::{Rotation, SwitchCause};

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

    /// Returns whether a file of `size` bytes is at its end. `signalled` says that the signal came.
    pub(crate) fn is_due(&self, size: u64, signalled: bool) -> bool {
        match self.cause {
            None | Some(SwitchCause::Event) => false,
            Some(SwitchCause::Signal) => signalled,
            Some(SwitchCause::Size(most)) => size > most,
            Some(SwitchCause::Time(_)) => {
                self.moment().is_some_and(|moment| Instant::now() >= moment)
            }
        }
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

    #[test]
    fn each_cause_ends_a_file_alone() {
        let signal = trigger(SwitchCause::Signal);
        assert!(signal.is_due(0, true) && !signal.is_due(u64::MAX, false));
        let size = trigger(SwitchCause::Size(10));
        assert!(size.is_due(11, false) && !size.is_due(10, true));
        let none = SwitchTrigger::new(None);
        assert!(!none.is_due(u64::MAX, true) && none.moment().is_none());
    }

    #[test]
    fn age_is_counted_from_the_beginning_of_the_file() {
        let hour = Duration::from_secs(3600);
        let mut time = trigger(SwitchCause::Time(hour));
        assert!(!time.is_due(u64::MAX, true));
        time.since -= hour;
        assert!(time.is_due(0, false));
        time.restart();
        assert!(!time.is_due(0, false) && time.moment() > Some(Instant::now()));
    }
}
