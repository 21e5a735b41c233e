//! What `--metric-only` shows: the metrics of each group in a line, without the counts.

use oxperf_analysis::counts::{
    CountEvent, CountGroup, CountMetric, CountRow, EventDisplay, MetricCounts,
};
use oxperf_present::counts::MetricLine;

use super::metrics::MetricSources;
use super::wanted::Wanted;

/// The columns: metrics, each with the event that it stands beside.
pub(super) struct Columns<'a>(Vec<(usize, &'a CountMetric)>);

impl<'a> Columns<'a> {
    /// The columns of all events, in their order.
    pub(super) fn new(wanted: &'a Wanted, rows: &[CountRow]) -> Columns<'a> {
        let is_counted = |event: usize| rows.iter().any(|row| row.event == event);
        let events = (0..wanted.requests.len()).filter(|event| is_counted(*event));
        let of_event = |event| {
            wanted
                .metrics
                .beside(event)
                .map(move |metric| (event, metric))
        };
        Columns(events.flat_map(of_event).collect())
    }

    /// Their labels.
    pub(super) fn labels(&self) -> Vec<&'a str> {
        self.0.iter().map(|(_, metric)| metric.label()).collect()
    }

    /// A line for each group of `rows`.
    pub(super) fn lines(
        &self,
        metrics: Option<&MetricSources<'_>>,
        events: &[CountEvent],
        rows: &[CountRow],
    ) -> Vec<MetricLine<'a>> {
        let event = |index: usize| events.get(index);
        let is_supported = |index: usize| event(index).is_some_and(|event| event.is_supported);
        let is_shown =
            |index: usize| event(index).is_some_and(|event| event.display != EventDisplay::Nothing);
        let counts = MetricCounts::new(rows, &is_supported);
        let line = |group: CountGroup| {
            let is_here = |event: usize| {
                let own = |row: &CountRow| row.event == event && row.group == group;
                !matches!(group, CountGroup::Cpu(_)) || rows.iter().any(own)
            };
            let cell = |&(event, metric): &(usize, &'a CountMetric)| {
                let metrics = metrics.filter(|_| is_shown(event) && is_here(event))?;
                Some(metric.cell(&counts, (event, group), metrics.environment()))
            };
            let is_first = |row: &&CountRow| row.event == 0 && row.group == group;
            let first = rows.iter().find(is_first).filter(|_| is_supported(0));
            MetricLine {
                group,
                counters: first.map_or(0, |row| row.total.counters),
                cells: self.0.iter().map(cell).collect(),
            }
        };
        groups(rows).into_iter().map(line).collect()
    }
}

/// The groups of rows, each once, in order.
fn groups(rows: &[CountRow]) -> Vec<CountGroup> {
    let mut groups: Vec<CountGroup> = rows.iter().map(|row| row.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}
