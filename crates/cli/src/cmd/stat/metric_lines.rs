//! What `--metric-only` shows: the metrics of each group in a line, without the counts.

use oxperf_analysis::counts::{
    CountEvent, CountGroup, CountMetric, CountRow, EventDisplay, MetricCounts,
};
use oxperf_present::counts::MetricLine;

use super::metrics::MetricSources;
use super::wanted::Wanted;

/// Metrics, each with the event that it stands beside.
type Columns<'a> = Vec<(usize, &'a CountMetric)>;

/// The lines of all groups. Where events are counted in several control groups, each of them has lines of its own.
pub(super) struct MetricLines<'a> {
    /// The first event of each copy of the events, one for each control group, with the columns of its lines.
    copies: Vec<(usize, Columns<'a>)>,
}

impl<'a> MetricLines<'a> {
    /// The lines of all events, in their order.
    pub(super) fn new(wanted: &'a Wanted, rows: &[CountRow]) -> MetricLines<'a> {
        let is_counted = |event: usize| rows.iter().any(|row| row.event == event);
        let own = wanted.requests.len();
        let columns = |first: usize| {
            let events = (first..first + own).filter(|event| is_counted(*event));
            let of_event = |event| {
                let metrics = wanted.metrics.beside(event);
                metrics.map(move |metric| (event, metric))
            };
            (first, events.flat_map(of_event).collect())
        };
        let all = wanted.displays.len().max(own);
        MetricLines {
            copies: (0..all).step_by(own.max(1)).map(columns).collect(),
        }
    }

    /// The labels of the columns.
    pub(super) fn labels(&self) -> Vec<&'a str> {
        let columns = self.copies.first().map(|(_, columns)| columns);
        let columns = columns.into_iter().flatten();
        columns.map(|(_, metric)| metric.label()).collect()
    }

    /// A line for each control group and each group of `rows`.
    pub(super) fn lines(
        &self,
        metrics: Option<&MetricSources<'_>>,
        events: &'a [CountEvent],
        rows: &[CountRow],
    ) -> Vec<MetricLine<'a>> {
        let event = |index: usize| events.get(index);
        let is_supported = |index: usize| event(index).is_some_and(|event| event.is_supported);
        let is_shown =
            |index: usize| event(index).is_some_and(|event| event.display != EventDisplay::Nothing);
        let counts = MetricCounts::new(rows, &is_supported);
        let groups = groups(rows);
        let line = |(first, columns): &(usize, Columns<'a>), group: CountGroup| {
            let is_here = |event: usize| {
                let own = |row: &CountRow| row.event == event && row.group == group;
                !matches!(group, CountGroup::Cpu(_)) || rows.iter().any(own)
            };
            let cell = |&(event, metric): &(usize, &'a CountMetric)| {
                let metrics = metrics.filter(|_| is_shown(event) && is_here(event))?;
                Some(metric.cell(&counts, (event, group), metrics.environment()))
            };
            let is_first = |row: &&CountRow| row.event == *first && row.group == group;
            let counted = rows.iter().find(is_first);
            let counted = counted.filter(|_| is_supported(*first));
            MetricLine {
                group,
                cgroup: event(*first).and_then(|event| event.cgroup.as_deref()),
                counters: counted.map_or(0, |row| row.total.counters),
                cells: columns.iter().map(cell).collect(),
            }
        };
        let copies = self.copies.iter();
        copies
            .flat_map(|copy| groups.iter().map(move |group| (copy, *group)))
            .map(|(copy, group)| line(copy, group))
            .collect()
    }
}

/// The groups of rows, each once, in order.
fn groups(rows: &[CountRow]) -> Vec<CountGroup> {
    let mut groups: Vec<CountGroup> = rows.iter().map(|row| row.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}
