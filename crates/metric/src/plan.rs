//! From `-M` to the events to open: metrics with their references, sets of events, what is shared between metrics.

mod event_text;
mod references;
mod request;
mod share;
#[cfg(test)]
mod tests;

use crate::{
    MetricCatalogue, MetricDefinition, MetricEnvironment, MetricError, MetricExpression, MetricIds,
    MetricScale,
};

/// How events are put together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanOptions {
    /// `--metric-no-group`: no events are grouped.
    pub no_group: bool,
    /// `--metric-no-merge`: metrics share no events.
    pub no_merge: bool,
    /// `--metric-no-threshold`: no events for thresholds alone.
    pub no_threshold: bool,
    /// Whether the NMI watchdog takes a counter.
    pub watchdog: bool,
    /// Whether cores run several hardware threads.
    pub smt_on: bool,
}

/// Events that are opened together, and the metrics that are computed from them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MetricPlan {
    /// The sets of events, in the order in which they are opened.
    pub batches: Vec<EventBatch>,
    /// The metrics.
    pub metrics: Vec<PlannedMetric>,
}

/// Events that one or several metrics need.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventBatch {
    /// The events in the notation of expressions (`msr@tsc@`), without those of the PMU `tool`, in the order of opening.
    pub events: Vec<String>,
    /// Those of the PMU `tool` (`duration_time`): never in the group.
    pub tools: Vec<String>,
    /// Whether the events are a weak group: one that is opened event by event where it does not fit the counters.
    pub grouped: bool,
    /// The modifier that the user gave with the metric: `u`.
    pub modifier: Option<String>,
}

/// A metric that is computed from a batch.
#[derive(Clone, PartialEq, Debug)]
pub struct PlannedMetric {
    /// Its name; with a modifier `name:modifier`.
    pub name: String,
    /// Its core PMU, on a machine with several.
    pub pmu: Option<String>,
    /// The heading under which `stat` shows it, with others, without being asked.
    pub default_group: Option<String>,
    /// The events that its value and its threshold are computed from.
    pub ids: MetricIds,
    /// Which of the plan's batches holds them.
    pub batch: usize,
    pub(crate) expression: MetricExpression,
    pub(crate) threshold: Option<MetricExpression>,
    pub(crate) scale: Option<MetricScale>,
    /// The metrics that are referred to, itself among them if its threshold names it, each behind those that it needs.
    pub(crate) references: Vec<Reference>,
}

/// A metric that another refers to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) expression: MetricExpression,
}

impl MetricPlan {
    /// The longest chain of metrics that refer to each other.
    pub const MAX_REFERENCES: usize = 64;

    /// Plans a list as `-M` takes it: names of metrics and groups, each with a modifier behind a colon if need be.
    ///
    /// # Errors
    /// A name that nothing has; a metric whose text, references or constants do not work out.
    pub fn new(
        list: &str,
        catalogue: &MetricCatalogue,
        environment: &dyn MetricEnvironment,
        options: &PlanOptions,
    ) -> Result<MetricPlan, MetricError> {
        let drafts = request::drafts(list, catalogue, environment, options)?;
        Ok(share::share(drafts, options))
    }

    /// The texts of all batches, as `-e` takes them.
    pub fn event_texts(&self) -> impl Iterator<Item = String> {
        self.batches.iter().map(EventBatch::text)
    }
}

/// A metric before its events are shared.
struct Draft<'a> {
    definition: &'a MetricDefinition,
    modifier: Option<String>,
    grouped: bool,
    expression: MetricExpression,
    threshold: Option<MetricExpression>,
    references: Vec<Reference>,
    ids: MetricIds,
}

impl Draft<'_> {
    fn planned(self, batch: usize) -> PlannedMetric {
        let name = match &self.modifier {
            Some(modifier) => format!("{}:{modifier}", self.definition.name),
            None => self.definition.name.to_string(),
        };
        PlannedMetric {
            name,
            pmu: self.definition.pmu.as_deref().map(str::to_owned),
            default_group: self.definition.default_group.as_deref().map(str::to_owned),
            ids: self.ids,
            batch,
            expression: self.expression,
            threshold: self.threshold,
            scale: self
                .definition
                .scale_unit
                .as_deref()
                .map(MetricScale::parse),
            references: self.references,
        }
    }
}
