//! Metrics over the rows of a table: which events each is computed from, which event it is shown beside, and its values.
//!
//! Nothing here asks where counts come from. Whoever has planned metrics and the ids of the events, in the order of the
//! table, gets their values: a run that goes on, or a recording of counts, whose events are known by their names.

use oxperf_metric::{EventCounts, MetricEnvironment, PlannedMetric, ThresholdVerdict};
use rustc_hash::FxHashMap;

use super::grouping::CountGroup;
use super::table::CountRow;

/// An event as metrics know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MetricEvent {
    /// Its index in the table.
    pub index: usize,
    /// The name in expressions: what the event's term `metric-id` says, else its name.
    pub id: String,
    /// The PMU that counts it.
    pub pmu: String,
    /// The PMU is one of the CPU's cores.
    pub is_of_core: bool,
    /// It takes no counter and says the same of all groups.
    pub is_tool: bool,
}

/// A metric with the events of a table that it is computed from.
#[derive(Clone, PartialEq, Debug)]
pub struct CountMetric {
    planned: PlannedMetric,
    /// The unit and the name, as they stand beside the value.
    label: String,
    events: Vec<MetricOperand>,
    /// Which of them it is shown beside.
    shown: usize,
}

/// An event in an expression: the first of those that have its id.
#[derive(Clone, PartialEq, Debug)]
struct MetricOperand {
    first: MetricEvent,
    /// The others: the same event on other PMUs.
    others: Vec<MetricEvent>,
}

impl MetricOperand {
    /// The event of this id that is computed with beside `shown`, and the number of events that are added up to it. Beside
    /// an event of another PMU than the first one's, the other events of that PMU take the place of the first ones.
    fn event_beside(&self, shown: &MetricOperand, index: usize) -> (&MetricEvent, usize) {
        let shown_other = shown.others.iter().find(|event| event.index == index);
        let own = shown_other
            .filter(|other| other.pmu != shown.first.pmu && self.first.pmu == shown.first.pmu);
        let own = own.and_then(|shown| self.others.iter().find(|event| event.pmu == shown.pmu));
        match own {
            Some(event) => (event, 1),
            None => (&self.first, 1 + self.others.len()),
        }
    }
}

/// The metrics of a table. Those that are shown beside one event stand in the order in which they are shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CountMetrics {
    metrics: Vec<CountMetric>,
}

impl CountMetrics {
    /// Adds the metrics of one plan; `batches` are the events of the plan's batches. A metric of which an event is missing
    /// is left out.
    pub fn add(&mut self, planned: Vec<PlannedMetric>, batches: &[Vec<MetricEvent>]) {
        let uses = |id: &str| {
            let users = planned.iter().filter(|metric| metric.ids.contains(id));
            users.count()
        };
        let with_events = |metric: &PlannedMetric| {
            let batch = batches.get(metric.batch)?;
            let events = operands(metric, batch)?;
            Some(CountMetric {
                label: label(metric),
                planned: metric.clone(),
                shown: shown_beside(&events, &uses)?,
                events,
            })
        };
        let added: Vec<CountMetric> = planned.iter().filter_map(with_events).collect();
        // The last that is planned is the first that is shown.
        self.metrics.splice(0..0, added.into_iter().rev());
    }

    /// The same metrics for copies of the `events` events, each behind the other.
    pub fn repeat(&mut self, events: usize, copies: usize) {
        let copy = |copy: usize| self.metrics.iter().map(move |own| own.moved(copy * events));
        self.metrics = (0..copies).flat_map(copy).collect();
    }

    /// All metrics.
    pub fn iter(&self) -> impl Iterator<Item = &CountMetric> {
        self.metrics.iter()
    }

    /// The metrics that are shown beside an event.
    pub fn beside(&self, event: usize) -> impl Iterator<Item = &CountMetric> {
        let is_beside = move |metric: &&CountMetric| metric.is_beside(event);
        self.metrics.iter().filter(is_beside)
    }
}

impl CountMetric {
    /// The same over events that stand so many places behind its own.
    fn moved(&self, places: usize) -> CountMetric {
        let mut moved = self.clone();
        for operand in &mut moved.events {
            let others = operand.others.iter_mut();
            others
                .chain(std::iter::once(&mut operand.first))
                .for_each(|event| event.index += places);
        }
        moved
    }

    /// Returns whether it is shown beside an event.
    fn is_beside(&self, event: usize) -> bool {
        let shown = &self.events[self.shown];
        shown.first.index == event || shown.others.iter().any(|other| other.index == event)
    }

    /// Its unit and name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The heading under which it stands with others, of one that is shown without being asked for.
    pub fn heading(&self) -> Option<&str> {
        self.planned.default_group.as_deref()
    }

    /// Its value beside an event, over the counts of a group.
    pub fn cell(
        &self,
        counts: &MetricCounts<'_>,
        (event, group): (usize, CountGroup),
        environment: &dyn MetricEnvironment,
    ) -> MetricCell<'_> {
        let counts = OfGroup {
            metric: self,
            counts,
            event,
            group,
        };
        let value = self.planned.evaluate(environment, &counts).ok();
        MetricCell {
            label: &self.label,
            has_unit: self.planned.scale().is_some(),
            value: value.as_ref().map_or(f64::NAN, |value| value.value),
            verdict: value.and_then(|value| value.verdict),
            heading: self.heading(),
        }
    }
}

/// The value of a metric in a group.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricCell<'a> {
    /// The unit and the name of the metric: `GHz  cycles_frequency`.
    pub label: &'a str,
    /// The metric has a unit.
    pub has_unit: bool,
    /// The value; NaN where there is none.
    pub value: f64,
    /// What the metric's threshold says.
    pub verdict: Option<ThresholdVerdict>,
    /// The heading under which the metric stands with others.
    pub heading: Option<&'a str>,
}

fn label(metric: &PlannedMetric) -> String {
    match metric.scale() {
        Some(scale) => format!("{}  {}", scale.unit, metric.name),
        None => metric.name.clone(),
    }
}

/// The events of a metric, in the order of the batch; none where one is missing.
fn operands(metric: &PlannedMetric, batch: &[MetricEvent]) -> Option<Vec<MetricOperand>> {
    let own_pmu = metric.pmu.as_deref();
    let mut operands: Vec<MetricOperand> = Vec::new();
    for event in batch {
        let is_of_other = event.is_of_core && own_pmu.is_some_and(|own| own != event.pmu);
        if is_of_other || !metric.ids.contains(&event.id) {
            continue;
        }
        let known = operands
            .iter_mut()
            .find(|operand| operand.first.id == event.id);
        match known {
            Some(operand) => operand.others.push(event.clone()),
            None => operands.push(MetricOperand {
                first: event.clone(),
                others: Vec::new(),
            }),
        }
    }
    (operands.len() == metric.ids.len()).then_some(operands)
}

/// The place of the event that says most about the metric: of those that take a counter the one that fewest metrics use,
/// the first of several.
fn shown_beside(events: &[MetricOperand], uses: &dyn Fn(&str) -> usize) -> Option<usize> {
    let rank = |place: &usize| {
        let event = &events[*place].first;
        (event.is_tool, uses(&event.id))
    };
    (0..events.len()).min_by_key(rank)
}

/// The counts that metrics are computed over.
pub struct MetricCounts<'a> {
    of_groups: FxHashMap<(usize, CountGroup), f64>,
    /// For each event its first row.
    first: FxHashMap<usize, f64>,
    is_supported: &'a dyn Fn(usize) -> bool,
}

impl<'a> MetricCounts<'a> {
    /// The counts of `rows`; `is_supported` says whether anything counts an event.
    pub fn new(rows: &[CountRow], is_supported: &'a dyn Fn(usize) -> bool) -> MetricCounts<'a> {
        let mut counts = MetricCounts {
            of_groups: FxHashMap::default(),
            first: FxHashMap::default(),
            is_supported,
        };
        for row in rows.iter().filter(|row| row.total.is_counted()) {
            let value = row.total.value;
            counts.of_groups.insert((row.event, row.group), value);
            counts.first.entry(row.event).or_insert(value);
        }
        counts
    }

    /// What an event counted in a group; none where nothing counted it there.
    fn count(&self, event: &MetricEvent, group: CountGroup) -> Option<f64> {
        if !(self.is_supported)(event.index) {
            return None;
        }
        if event.is_tool {
            let factor = if is_time(&event.id) { SECONDS } else { 1.0 };
            return self.first.get(&event.index).map(|value| value * factor);
        }
        self.of_groups.get(&(event.index, group)).copied()
    }
}

/// Seconds of a nanosecond.
const SECONDS: f64 = 1e-9;

/// Returns whether an event is a time, which expressions take in seconds.
fn is_time(id: &str) -> bool {
    ["duration_time", "user_time", "system_time"].contains(&id)
}

/// The counts of a metric's events in a group, beside an event.
struct OfGroup<'a> {
    metric: &'a CountMetric,
    counts: &'a MetricCounts<'a>,
    event: usize,
    group: CountGroup,
}

impl OfGroup<'_> {
    fn event(&self, id: &str) -> Option<(&MetricEvent, usize)> {
        let shown = &self.metric.events[self.metric.shown];
        let mut operands = self.metric.events.iter();
        let operand = operands.find(|operand| operand.first.id == id)?;
        Some(operand.event_beside(shown, self.event))
    }
}

impl EventCounts for OfGroup<'_> {
    fn count(&self, id: &str) -> Option<f64> {
        let (event, _) = self.event(id)?;
        self.counts.count(event, self.group)
    }

    fn sources(&self, id: &str) -> Option<f64> {
        let (event, sources) = self.event(id)?;
        (self.counts.is_supported)(event.index).then_some(sources as f64)
    }
}

#[cfg(test)]
mod tests {
    use oxperf_metric::{
        MachineConstants, MetricCatalogue, MetricDefinition, MetricPlan, PlanOptions,
    };

    use super::super::table::CountTotal;
    use super::*;

    fn metric(name: &'static str, expression: &'static str) -> MetricDefinition {
        MetricDefinition {
            name: name.into(),
            groups: vec!["all".into()],
            expression: expression.into(),
            scale_unit: Some("1x".into()),
            ..MetricDefinition::default()
        }
    }

    /// The metrics of one plan over events of a batch, in their order.
    fn metrics(definitions: Vec<MetricDefinition>, ids: &[&str]) -> CountMetrics {
        let catalogue = MetricCatalogue::new([definitions]);
        let options = PlanOptions {
            no_group: true,
            ..PlanOptions::default()
        };
        let machine = MachineConstants::default();
        let plan = MetricPlan::new("all", &catalogue, &machine, &options).unwrap();
        let event = |(index, id): (usize, &&str)| MetricEvent {
            index,
            id: (*id).to_owned(),
            pmu: "cpu".to_owned(),
            is_of_core: true,
            is_tool: *id == "duration_time",
        };
        let events: Vec<MetricEvent> = ids.iter().enumerate().map(event).collect();
        let mut metrics = CountMetrics::default();
        metrics.add(plan.metrics, &[events]);
        metrics
    }

    #[test]
    fn beside_the_event_of_another_pmu_its_own_events_count() {
        let mut metrics = CountMetrics::default();
        let catalogue = MetricCatalogue::new([vec![metric("ipc", "instructions / cycles")]]);
        let machine = MachineConstants::default();
        let plan = MetricPlan::new("ipc", &catalogue, &machine, &PlanOptions::default()).unwrap();
        let names = ["cycles", "instructions", "cycles", "instructions"];
        let event = |index: usize| MetricEvent {
            index,
            id: names[index].to_owned(),
            pmu: if index < 2 { "cpu_core" } else { "cpu_atom" }.to_owned(),
            is_of_core: true,
            is_tool: false,
        };
        metrics.add(plan.metrics, &[(0..4).map(event).collect()]);
        let rows: Vec<CountRow> = [2.0, 4.0, 5.0, 15.0]
            .iter()
            .enumerate()
            .map(|(index, value)| row(index, 0, *value))
            .collect();
        let supported = |_| true;
        let counts = MetricCounts::new(&rows, &supported);
        let values = |event: usize| -> Vec<f64> {
            let beside = metrics.beside(event);
            let place = (event, rows[0].group);
            beside
                .map(|own| own.cell(&counts, place, &machine).value)
                .collect()
        };
        assert_eq!([values(0), values(2)], [[2.0], [3.0]]);
    }

    fn row(event: usize, cpu: u32, value: f64) -> CountRow {
        CountRow {
            event,
            group: CountGroup::Cpu(Some(oxperf_abi::Cpu(cpu))),
            total: CountTotal {
                value,
                enabled: 1,
                running: 1,
                ..CountTotal::default()
            },
        }
    }

    #[test]
    fn a_metric_stands_beside_the_event_that_is_shared_least() {
        let metrics = metrics(
            vec![
                metric("ipc", "instructions / cycles"),
                metric("hz", "cycles / duration_time"),
            ],
            &["cycles", "instructions", "duration_time"],
        );
        let beside: Vec<_> = metrics
            .iter()
            .map(|own| (&*own.label, own.is_beside(0)))
            .collect();
        assert_eq!(beside, [("x  hz", true), ("x  ipc", false)]);
    }

    #[test]
    fn values_are_those_of_the_group_and_times_are_seconds_of_all() {
        let metrics = metrics(
            vec![metric(
                "hz",
                "cycles / duration_time / source_count(cycles)",
            )],
            &["cycles", "duration_time", "cycles"],
        );
        let rows = [row(0, 0, 6.0), row(0, 1, 8.0), row(1, 0, 2e9)];
        let supported = |_| true;
        let counts = MetricCounts::new(&rows, &supported);
        let machine = MachineConstants::default();
        let values: Vec<f64> = rows[..2]
            .iter()
            .map(|row| {
                metrics
                    .beside(0)
                    .next()
                    .unwrap()
                    .cell(&counts, (0, row.group), &machine)
                    .value
            })
            .collect();
        assert_eq!(values, [1.5, 2.0]);
        let unsupported = |_| false;
        let counts = MetricCounts::new(&rows, &unsupported);
        let cell = metrics
            .beside(0)
            .next()
            .unwrap()
            .cell(&counts, (0, rows[0].group), &machine);
        assert!(cell.value.is_nan());
    }

    #[test]
    fn without_an_event_there_is_no_metric() {
        let metrics = metrics(vec![metric("ipc", "instructions / cycles")], &["cycles"]);
        assert_eq!(metrics.iter().count(), 0);
    }
}
