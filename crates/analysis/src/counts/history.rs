//! The rates of the last intervals, for each row of a table of counts.

use std::collections::VecDeque;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::grouping::CountGroup;
use super::table::{CountEvent, CountRow};

/// The rates of the last intervals; none of an interval in which the event was not counted.
pub type RateSeries = VecDeque<Option<f64>>;

/// Keeps the rates of the last intervals, in the events' units a second.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RateHistory {
    /// So many intervals are kept.
    most: usize,
    rates: FxHashMap<(usize, CountGroup), RateSeries>,
    /// The end of the last interval.
    last: Duration,
}

impl RateHistory {
    /// A history of so many intervals.
    pub fn new(most: usize) -> RateHistory {
        RateHistory {
            most,
            ..RateHistory::default()
        }
    }

    /// Takes the rows of an interval that ended at `moment`.
    pub fn push(&mut self, rows: &[CountRow], events: &[CountEvent], moment: Duration) {
        let seconds = moment.saturating_sub(self.last).as_secs_f64();
        self.last = moment;
        for row in rows {
            let scale = events.get(row.event).map(|event| event.scale);
            let scale = scale.filter(|_| row.total.is_counted() && seconds > 0.0);
            let rate = scale.map(|scale| row.total.value * scale / seconds);
            let rates = self.rates.entry((row.event, row.group)).or_default();
            rates.push_back(rate);
            if rates.len() > self.most {
                rates.pop_front();
            }
        }
    }

    /// The rates of a row, the oldest first.
    pub fn of(&self, row: &CountRow) -> Option<&RateSeries> {
        self.rates.get(&(row.event, row.group))
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::CountTotal;
    use super::*;

    #[test]
    fn rates_are_those_of_the_last_intervals() {
        let event = CountEvent {
            scale: 0.5,
            ..CountEvent::default()
        };
        let row = |value, running| CountRow {
            event: 0,
            group: CountGroup::All,
            total: CountTotal {
                value,
                enabled: 1,
                running,
                ..CountTotal::default()
            },
        };
        let mut history = RateHistory::new(2);
        let rows = [(10.0, 1), (20.0, 1), (0.0, 0)];
        for (nth, (value, running)) in (1..).zip(rows) {
            let moment = Duration::from_millis(500 * nth);
            history.push(&[row(value, running)], std::slice::from_ref(&event), moment);
        }
        let rates = history.of(&row(0.0, 0)).unwrap();
        assert_eq!(rates, &[Some(20.0), None]);
        history.push(&[row(1.0, 1)], &[event], Duration::from_millis(1500));
        assert_eq!(history.of(&row(0.0, 0)).unwrap().back(), Some(&None));
    }
}
