//! The metrics of a machine, found by name and by group.

use std::collections::HashMap;

use crate::MetricDefinition;

/// The metrics of a machine. Their order is that in which `-M` plans them: table by table, within a table by PMU and name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetricCatalogue {
    metrics: Vec<MetricDefinition>,
    /// The places of the metrics of a name.
    by_name: HashMap<String, Vec<usize>>,
}

impl MetricCatalogue {
    /// A catalogue of tables: those of the CPU model first, those for all models last.
    pub fn new(tables: impl IntoIterator<Item = Vec<MetricDefinition>>) -> MetricCatalogue {
        let mut metrics = Vec::new();
        for mut table in tables {
            table.sort_by(|a, b| (pmu_of(a), &a.name).cmp(&(pmu_of(b), &b.name)));
            metrics.append(&mut table);
        }
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, metric) in metrics.iter().enumerate() {
            let places = by_name.entry(metric.name.to_string()).or_default();
            places.push(place);
        }
        MetricCatalogue { metrics, by_name }
    }

    /// Every metric.
    pub fn iter(&self) -> impl Iterator<Item = &MetricDefinition> {
        self.metrics.iter()
    }

    /// The metrics that a name or a group asks for.
    pub fn named<'a>(&'a self, wanted: &'a str) -> impl Iterator<Item = &'a MetricDefinition> {
        self.metrics
            .iter()
            .filter(move |metric| metric.is_in(wanted))
    }

    /// The metric that a name in an expression refers to: one of the same PMU.
    pub fn find(&self, pmu: Option<&str>, name: &str) -> Option<&MetricDefinition> {
        let mut metrics = self
            .by_name
            .get(name)?
            .iter()
            .map(|place| &self.metrics[*place]);
        metrics.find(|metric| metric.pmu.as_deref() == pmu)
    }
}

/// The PMU that tables name.
fn pmu_of(metric: &MetricDefinition) -> &str {
    metric.pmu.as_deref().unwrap_or("default_core")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(pmu: Option<&'static str>, name: &'static str) -> MetricDefinition {
        MetricDefinition {
            name: name.into(),
            pmu: pmu.map(Into::into),
            groups: vec!["Group".into()],
            ..MetricDefinition::default()
        }
    }

    #[test]
    fn tables_keep_their_order_and_are_sorted_within() {
        let model = vec![
            metric(None, "A"),
            metric(Some("cpu_core"), "b"),
            metric(Some("cpu_core"), "B"),
            metric(Some("cpu_atom"), "c"),
        ];
        let catalogue = MetricCatalogue::new([model, vec![metric(None, "a")]]);
        let names: Vec<_> = catalogue
            .named("group")
            .map(|metric| metric.name.as_ref())
            .collect();
        assert_eq!(names, ["c", "B", "b", "A", "a"]);
        assert_eq!(catalogue.iter().count(), 5);
    }

    #[test]
    fn a_reference_stays_on_its_pmu() {
        let catalogue =
            MetricCatalogue::new([vec![metric(Some("cpu_core"), "x"), metric(None, "y")]]);
        assert!(catalogue.find(Some("cpu_core"), "x").is_some());
        assert!(
            catalogue.find(Some("cpu_atom"), "x").is_none()
                && catalogue.find(Some("cpu_core"), "y").is_none()
        );
        assert!(catalogue.find(None, "Y").is_none());
    }
}
