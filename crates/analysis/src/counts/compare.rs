//! Two measurements beside each other: for each event and time, the means of both, their difference, and whether it is
//! more than chance.

use std::time::Duration;

use super::runs::{MeasuredEvent, MeasuredRun, MeasuredRuns};
use super::statistics::Statistics;
use super::welch::MeanTest;

/// One line of a comparison: an event, or a time that the runs took.
#[derive(Clone, PartialEq, Debug)]
pub struct ComparedCount {
    /// The name of the event, or of the time.
    pub name: String,
    /// The PMU that counts it; none of a time.
    pub pmu: Option<String>,
    /// The control group that it is counted in.
    pub cgroup: Option<String>,
    /// The unit of its values.
    pub unit: String,
    /// The earlier measurement; none where it has not the event.
    pub before: Option<MeasuredSide>,
    /// The later measurement; none where it has not the event.
    pub after: Option<MeasuredSide>,
    /// The change from one to the other; none where one of them counted nothing.
    pub change: Option<CountChange>,
}

/// An event in one of two measurements.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasuredSide {
    /// Mean and deviation over its runs; of no runs where nothing was counted.
    pub statistics: Statistics,
    /// Something counted it.
    pub is_supported: bool,
    /// The reason why it is not counted, where that is known.
    pub reason: Option<String>,
}

/// The change of a mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CountChange {
    /// The later mean less the earlier one.
    pub difference: f64,
    /// The difference in percent of the earlier mean; none of a mean of 0.
    pub percent: Option<f64>,
    /// Whether it is more than chance.
    pub test: MeanTest,
}

impl CountChange {
    fn of(before: &Statistics, after: &Statistics) -> CountChange {
        let difference = after.mean() - before.mean();
        CountChange {
            difference,
            percent: (before.mean() != 0.0).then(|| 100.0 * difference / before.mean()),
            test: MeanTest::of(before, after),
        }
    }

    /// Returns whether the mean grew by more than so many percent, and by more than chance. What was 0 before grew by more
    /// than any percentage.
    pub fn has_grown_over(&self, percent: f64) -> bool {
        let share = self.percent.unwrap_or(f64::INFINITY);
        let is_more_than_chance = self.test.is_more_than_chance() == Some(true);
        self.difference > 0.0 && share > percent && is_more_than_chance
    }
}

/// A comparison of two measurements.
#[derive(Clone, PartialEq, Debug)]
pub struct RunComparison {
    /// The events of the earlier measurement, those that the later one alone has, and the times.
    pub counts: Vec<ComparedCount>,
}

impl RunComparison {
    /// Compares two measurements. Events are the same whose name, PMU and control group are.
    pub fn new(before: &MeasuredRuns, after: &MeasuredRuns) -> RunComparison {
        let mut taken = vec![false; after.events.len()];
        let mut counts: Vec<ComparedCount> = Vec::new();
        for event in &before.events {
            let mut others = after.events.iter().enumerate();
            let same = others.find(|(index, other)| !taken[*index] && is_same(event, other));
            if let Some((index, _)) = same {
                taken[index] = true;
            }
            counts.push(compared(Some(event), same.map(|(_, other)| other)));
        }
        let own = after.events.iter().zip(taken).filter(|(_, taken)| !taken);
        counts.extend(own.map(|(event, _)| compared(None, Some(event))));
        counts.extend(times(before, after));
        RunComparison { counts }
    }

    /// The names of everything that grew by more than so many percent, and by more than chance.
    pub fn grown_over(&self, percent: f64) -> Vec<&str> {
        let has_grown = |count: &&ComparedCount| {
            let change = count.change.as_ref();
            change.is_some_and(|change| change.has_grown_over(percent))
        };
        let grown = self.counts.iter().filter(has_grown);
        grown.map(|count| count.name.as_str()).collect()
    }
}

fn is_same(one: &MeasuredEvent, other: &MeasuredEvent) -> bool {
    one.name == other.name && one.pmu == other.pmu && one.cgroup == other.cgroup
}

fn compared(before: Option<&MeasuredEvent>, after: Option<&MeasuredEvent>) -> ComparedCount {
    let either = before.or(after);
    let side = |event: &MeasuredEvent| MeasuredSide {
        statistics: event.statistics(),
        is_supported: event.is_supported,
        reason: event.reason.clone(),
    };
    let text = |of: fn(&MeasuredEvent) -> &String| either.map(of).cloned().unwrap_or_default();
    let (before, after) = (before.map(side), after.map(side));
    ComparedCount {
        name: text(|event| &event.name),
        pmu: Some(text(|event| &event.pmu)),
        cgroup: either.and_then(|event| event.cgroup.clone()),
        unit: text(|event| &event.unit),
        change: change(before.as_ref(), after.as_ref()),
        before,
        after,
    }
}

/// The change where both sides counted something.
fn change(before: Option<&MeasuredSide>, after: Option<&MeasuredSide>) -> Option<CountChange> {
    let (before, after) = (&before?.statistics, &after?.statistics);
    let both_counted = before.number() > 0 && after.number() > 0;
    both_counted.then(|| CountChange::of(before, after))
}

/// A time of a run, where it has it.
type TimeOfRun = fn(&MeasuredRun) -> Option<Duration>;

/// The times that runs take, with their names.
const TIMES: [(&str, TimeOfRun); 3] = [
    ("elapsed", |run| Some(run.elapsed)),
    ("user", |run| run.user),
    ("sys", |run| run.system),
];

/// The unit of times.
const SECONDS: &str = "s";

fn times(before: &MeasuredRuns, after: &MeasuredRuns) -> impl Iterator<Item = ComparedCount> {
    let compare = |(name, time): (&str, TimeOfRun)| {
        let sides = (time_of(before, time), time_of(after, time));
        let (Some(before), Some(after)) = sides else {
            return None;
        };
        Some(ComparedCount {
            name: name.to_owned(),
            pmu: None,
            cgroup: None,
            unit: SECONDS.to_owned(),
            change: change(Some(&before), Some(&after)),
            before: Some(before),
            after: Some(after),
        })
    };
    TIMES.into_iter().filter_map(compare)
}

/// A time over all runs; `None` where no run has it.
fn time_of(runs: &MeasuredRuns, time: TimeOfRun) -> Option<MeasuredSide> {
    let mut statistics = Statistics::default();
    let times = runs.runs.iter().filter_map(time);
    times.for_each(|time| statistics.add(time.as_secs_f64()));
    (statistics.number() > 0).then_some(MeasuredSide {
        statistics,
        is_supported: true,
        reason: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::runs::RunCount;
    use super::*;

    fn event(name: &str, pmu: &str, values: &[f64]) -> MeasuredEvent {
        let count = |&value: &f64| RunCount {
            value: Some(value),
            ..RunCount::default()
        };
        MeasuredEvent {
            name: name.to_owned(),
            pmu: pmu.to_owned(),
            scale: 1.0,
            is_supported: true,
            counts: values.iter().map(count).collect(),
            ..MeasuredEvent::default()
        }
    }

    fn runs(events: Vec<MeasuredEvent>, milliseconds: &[u64]) -> MeasuredRuns {
        let run = |&elapsed: &u64| MeasuredRun {
            elapsed: Duration::from_millis(elapsed),
            ..MeasuredRun::default()
        };
        MeasuredRuns {
            events,
            runs: milliseconds.iter().map(run).collect(),
            ..MeasuredRuns::default()
        }
    }

    #[test]
    fn events_are_found_by_name_and_pmu_and_times_follow() {
        let before = runs(
            vec![
                event("cycles", "cpu", &[100.0, 102.0, 98.0]),
                event("reads", "imc_0", &[1.0, 1.0]),
                event("reads", "imc_1", &[2.0, 2.0]),
            ],
            &[10, 11, 12],
        );
        let after = runs(
            vec![
                event("reads", "imc_1", &[3.0, 3.0]),
                event("cycles", "cpu", &[110.0, 112.0, 108.0]),
                event("faults", "software", &[7.0, 7.0]),
            ],
            &[10, 11, 12],
        );
        let comparison = RunComparison::new(&before, &after);
        let names: Vec<&str> = comparison
            .counts
            .iter()
            .map(|row| row.name.as_str())
            .collect();
        assert_eq!(names, ["cycles", "reads", "reads", "faults", "elapsed"]);
        let change = |row: usize| comparison.counts[row].change;
        let cycles = change(0).unwrap();
        assert_eq!((cycles.difference, cycles.percent), (10.0, Some(10.0)));
        assert_eq!(cycles.test.is_more_than_chance(), Some(true));
        assert_eq!((change(1), change(3)), (None, None));
        assert_eq!(
            change(2).unwrap().test,
            MeanTest::NoSpread { is_equal: false }
        );
        assert_eq!(change(4).unwrap().test.is_more_than_chance(), Some(false));
        assert_eq!(comparison.grown_over(5.0), ["cycles", "reads"]);
        assert_eq!(comparison.grown_over(10.0), ["reads"]);
    }

    #[test]
    fn what_was_nothing_grew_by_more_than_any_share() {
        let change = |before: &[f64], after: &[f64]| {
            let (before, after) = (event("a", "", before), event("a", "", after));
            compared(Some(&before), Some(&after)).change.unwrap()
        };
        let grown = change(&[0.0, 0.0], &[1.0, 1.0]);
        assert_eq!(grown.percent, None);
        assert!(grown.has_grown_over(1e9));
        assert!(!change(&[1.0, 1.0], &[0.0, 0.0]).has_grown_over(0.0));
        assert!(!change(&[1.0], &[9.0]).has_grown_over(0.0));
    }
}
