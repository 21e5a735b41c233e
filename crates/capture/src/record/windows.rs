//! When a recording counts: from a moment on, or within windows of time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Recorder;
use crate::error::CaptureError;
use crate::notice::{Observer, RecordingStep};
use crate::options::{Start, Windows};

/// A change of what counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// Counting begins.
    Begin,
    /// A window closes and another one follows.
    Pause,
    /// The next window opens.
    Resume,
    /// The last window closes.
    End,
}

/// The changes that are still to come, by their times after the start of the workload.
#[derive(Debug)]
pub(super) struct Timetable {
    started: Instant,
    changes: VecDeque<(Duration, Change)>,
}

impl Timetable {
    /// The changes of a recording whose workload was started at `started`.
    pub(super) fn new(start: Start, windows: &Windows, started: Instant) -> Timetable {
        let mut changes = VecDeque::new();
        if let Start::After(delay) = start {
            changes.push_back((delay, Change::Begin));
        }
        for pause in &windows.pauses {
            changes.push_back((pause.start, Change::Pause));
            changes.push_back((pause.end, Change::Resume));
        }
        changes.extend(windows.end.map(|end| (end, Change::End)));
        Timetable { started, changes }
    }

    /// The moment of the next change.
    pub(super) fn moment(&self) -> Option<Instant> {
        let (after, _) = self.changes.front()?;
        self.started.checked_add(*after)
    }

    /// Takes the next change, if it is due at `now`.
    fn take_due(&mut self, now: Instant) -> Option<Change> {
        let is_due = self.moment().is_some_and(|moment| moment <= now);
        is_due
            .then(|| self.changes.pop_front())?
            .map(|(_, change)| change)
    }
}

impl Recorder<'_> {
    /// Starts the workload. Counting begins before it runs, unless its exec or the timetable that this returns begins it.
    ///
    /// # Errors
    /// The program cannot be executed, or the kernel's answer.
    pub(super) fn start(&mut self, observer: &mut dyn Observer) -> Result<Timetable, CaptureError> {
        let options = self.context.options;
        let start = options.target.start;
        if start == Start::Now && !options.target.starts_on_exec() {
            self.enable()?;
        }
        self.control.start()?;
        if start != Start::Now {
            observer.reached(RecordingStep::Counting(false));
        }
        Ok(Timetable::new(start, &options.windows, Instant::now()))
    }

    /// Makes the changes that are due. A recording that ends meanwhile is not changed any more.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(super) fn keep_to(
        &mut self,
        timetable: &mut Timetable,
        observer: &mut dyn Observer,
    ) -> Result<(), CaptureError> {
        while !self.control.has_ended()
            && let Some(change) = timetable.take_due(Instant::now())
        {
            self.change(change)?;
            let counts = matches!(change, Change::Begin | Change::Resume);
            observer.reached(RecordingStep::Counting(counts));
        }
        Ok(())
    }

    /// What tracks tasks goes on in pauses: samples of later windows need the names.
    fn change(&mut self, change: Change) -> Result<(), CaptureError> {
        match change {
            Change::Begin => self.enable()?,
            Change::Pause => {
                self.set_counting(None, false)?;
            }
            Change::Resume => {
                self.set_counting(None, true)?;
            }
            Change::End => {
                self.set_counting(None, false)?;
                self.control.end();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn taken(timetable: &mut Timetable, after: Duration) -> Vec<Change> {
        let now = timetable.started + after;
        std::iter::from_fn(|| timetable.take_due(now)).collect()
    }

    #[test]
    fn windows_open_and_close_in_turn() {
        let windows = Windows {
            pauses: vec![ms(20)..ms(30)],
            end: Some(ms(40)),
        };
        let started = Instant::now();
        let mut timetable = Timetable::new(Start::After(ms(10)), &windows, started);
        assert_eq!(taken(&mut timetable, ms(9)), []);
        assert_eq!(timetable.moment(), Some(started + ms(10)));
        assert_eq!(taken(&mut timetable, ms(10)), [Change::Begin]);
        // Late, each change is made nevertheless.
        let late = [Change::Pause, Change::Resume, Change::End];
        assert_eq!(taken(&mut timetable, ms(99)), late);
        assert_eq!(timetable.moment(), None);
    }

    #[test]
    fn without_windows_only_a_delay_changes_anything() {
        let windows = Windows::default();
        let changes = |start| Timetable::new(start, &windows, Instant::now()).changes;
        assert_eq!(changes(Start::After(ms(5))), [(ms(5), Change::Begin)]);
        assert!(changes(Start::Now).is_empty() && changes(Start::Disabled).is_empty());
    }
}
