//! A row of a table of metrics.

use super::descriptions;
use crate::{EventGrouping, MetricDefinition, MetricEnvironment, MetricExpression};

/// A metric as tables write it. `PMU@` in an expression stands for the core PMU, `WIDTH` for the operations of a cycle.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// Between semicolons.
    pub(super) groups: &'static str,
    pub(super) expression: &'static str,
    /// Empty for none.
    pub(super) threshold: &'static str,
    /// Empty for none.
    pub(super) unit: &'static str,
    pub(super) grouping: EventGrouping,
}

impl Row {
    /// A metric whose events are grouped, without threshold and unit.
    pub(super) const fn new(
        name: &'static str,
        groups: &'static str,
        expression: &'static str,
    ) -> Row {
        Row {
            name,
            groups,
            expression,
            threshold: "",
            unit: "",
            grouping: EventGrouping::Group,
        }
    }

    pub(super) const fn threshold(self, threshold: &'static str) -> Row {
        Row { threshold, ..self }
    }

    pub(super) const fn unit(self, unit: &'static str) -> Row {
        Row { unit, ..self }
    }

    pub(super) const fn ungrouped(self) -> Row {
        Row {
            grouping: EventGrouping::Never,
            ..self
        }
    }

    pub(super) fn definition(&self, core: &str, pmu: Option<&str>) -> MetricDefinition {
        let some = |text: &'static str| (!text.is_empty()).then(|| text.into());
        let groups = || self.groups.split(';');
        let is_level = |group: &&str| ["TopdownL1", "TopdownL2"].contains(group);
        let is_default = |group: &&str| *group == "Default";
        // The metrics of generic events belong to no level. Of several kinds of cores all have the first, which is enough.
        let level = groups().find(is_level);
        let is_shown = level == Some("TopdownL1") || pmu.is_none();
        let is_apart = |group: &&str| is_level(group) || is_default(group) && level.is_some();
        MetricDefinition {
            name: self.name.into(),
            description: descriptions::of(self.name).map(Into::into),
            expression: self.expression.replace("PMU@", &format!("{core}@")).into(),
            threshold: some(self.threshold),
            scale_unit: some(self.unit),
            pmu: pmu.map(|pmu| pmu.to_owned().into()),
            grouping: self.grouping,
            ungrouped_in: groups().filter(is_apart).map(Into::into).collect(),
            default_group: level
                .filter(|_| groups().any(|group| is_default(&group)))
                .map(Into::into),
            groups: groups()
                .filter(|group| is_shown || !is_default(group))
                .map(Into::into)
                .collect(),
        }
    }

    /// Returns whether every event of the core PMU and every constant that the expression names exists.
    pub(super) fn has_events(&self, core: &str, environment: &dyn MetricEnvironment) -> bool {
        let expression = self.expression.replace("PMU@", &format!("{core}@"));
        let parsed = MetricExpression::parse(&expression.replace("WIDTH", "1"));
        parsed.is_ok_and(|parsed| {
            let mut constants = parsed.constants();
            let mut events = parsed.names().filter(|name| name.contains('@'));
            constants.all(|name| environment.constant(name).is_some())
                && events.all(|event| environment.has_event(event))
        })
    }
}
