//! Metrics as lists show them.

use oxperf_metric::{MetricCatalogue, MetricDefinition};
use oxperf_pmu_events::{EventTables, TableMetric};
use std::collections::HashMap;

/// The name of the cores' PMU where there is one kind of cores.
const DEFAULT_CORE: &str = "default_core";

/// A metric in one of its groups. Texts come from files and are not trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedMetric {
    /// The group; one that names none is its own.
    pub group: String,
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: String,
    /// An expression that is true where the value asks for attention.
    pub threshold: Option<String>,
    /// Factor and unit of its value: `100%`.
    pub scale_unit: Option<String>,
    /// A description of a line or two.
    pub brief: Option<String>,
    /// A long description.
    pub long: Option<String>,
    /// The PMU that its events are on; `default_core` for that of the cores.
    pub unit: String,
}

/// Each metric once in each of its groups, by group and name.
pub(crate) fn in_groups(
    metrics: &MetricCatalogue,
    tables: Option<&EventTables>,
) -> Vec<ListedMetric> {
    let described = tables.into_iter().flat_map(EventTables::metrics);
    let described: HashMap<&str, TableMetric<'_>> =
        described.map(|metric| (metric.name, metric)).collect();
    let mut listed: Vec<ListedMetric> = metrics
        .iter()
        .flat_map(|metric| of_definition(metric, described.get(&*metric.name)))
        .collect();
    let key = |metric: &ListedMetric| {
        (
            metric.group.clone(),
            metric.name.clone(),
            metric.unit.clone(),
        )
    };
    listed.sort_by_cached_key(key);
    listed
}

fn of_definition(
    metric: &MetricDefinition,
    described: Option<&TableMetric<'_>>,
) -> Vec<ListedMetric> {
    let name = metric.name.clone();
    let groups = match metric.groups.is_empty() {
        true => vec![name],
        false => metric.groups.clone(),
    };
    let in_group = |group: std::borrow::Cow<'static, str>| ListedMetric {
        group: group.into_owned(),
        name: metric.name.clone().into_owned(),
        expression: metric.expression.clone().into_owned(),
        threshold: metric.threshold.clone().map(Into::into),
        scale_unit: metric.scale_unit.clone().map(Into::into),
        brief: metric.description.clone().map(Into::into),
        long: described.and_then(|table| table.long).map(str::to_owned),
        unit: metric
            .pmu
            .clone()
            .map_or_else(|| DEFAULT_CORE.to_owned(), Into::into),
    };
    groups.into_iter().map(in_group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_stands_in_each_of_its_groups() {
        let metric = |name: &'static str, groups: &[&'static str]| MetricDefinition {
            name: name.into(),
            groups: groups.iter().map(|group| (*group).into()).collect(),
            expression: "a / b".into(),
            ..MetricDefinition::default()
        };
        let metrics = MetricCatalogue::new([vec![
            metric("z", &["One", "Two"]),
            metric("a", &["Two"]),
            metric("alone", &[]),
        ]]);
        let listed = in_groups(&metrics, None);
        let shown: Vec<(&str, &str)> = listed
            .iter()
            .map(|metric| (&*metric.group, &*metric.name))
            .collect();
        assert_eq!(
            shown,
            [("One", "z"), ("Two", "a"), ("Two", "z"), ("alone", "alone")]
        );
        assert_eq!(listed[0].unit, "default_core");
    }
}
