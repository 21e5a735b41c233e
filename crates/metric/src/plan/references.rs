//! A metric with all that it refers to, and the events of them all.

use super::{MetricPlan, Reference};
use crate::{
    MetricCatalogue, MetricDefinition, MetricEnvironment, MetricError, MetricExpression, MetricIds,
};

/// Collects the events of one metric.
pub(super) struct Resolver<'a> {
    catalogue: &'a MetricCatalogue,
    environment: &'a dyn MetricEnvironment,
    ids: MetricIds,
    /// The metrics whose references are found, each behind those that it needs.
    references: Vec<Reference>,
    /// The metrics that were met.
    met: Vec<&'a str>,
    /// The metrics whose references are being resolved, outermost first.
    open: Vec<&'a str>,
}

/// A metric whose references are found.
pub(super) struct Resolved {
    pub(super) expression: MetricExpression,
    pub(super) threshold: Option<MetricExpression>,
    pub(super) references: Vec<Reference>,
    pub(super) ids: MetricIds,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(
        catalogue: &'a MetricCatalogue,
        environment: &'a dyn MetricEnvironment,
    ) -> Resolver<'a> {
        Resolver {
            catalogue,
            environment,
            ids: MetricIds::default(),
            references: Vec::new(),
            met: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Finds what `metric` refers to. A threshold is an expression over the metric's own name, so the metric becomes one of
    /// its references; without the events of the threshold it still does, for the threshold is computed where it can be.
    pub(super) fn resolve(
        mut self,
        metric: &'a MetricDefinition,
        no_threshold: bool,
    ) -> Result<Resolved, MetricError> {
        let expression = expression_of(&metric.name, &metric.expression)?;
        let threshold = match &metric.threshold {
            Some(text) => Some(expression_of(&metric.name, text)?),
            None => None,
        };
        match &threshold {
            Some(_) if no_threshold => self.ids.insert(metric.name.to_string()),
            Some(threshold) => self.add_ids(threshold)?,
            None => {
                self.open.push(&metric.name);
                self.add_ids(&expression)?;
            }
        }
        self.resolve_ids(metric.pmu.as_deref())?;
        Ok(Resolved {
            expression,
            threshold,
            references: self.references,
            ids: self.ids,
        })
    }

    fn add_ids(&mut self, expression: &MetricExpression) -> Result<(), MetricError> {
        let found = expression.ids(self.environment)?;
        self.ids = found.union(std::mem::take(&mut self.ids));
        Ok(())
    }

    /// Replaces the names of metrics by what the metrics need.
    fn resolve_ids(&mut self, pmu: Option<&str>) -> Result<(), MetricError> {
        let is_metric = |id| self.catalogue.find(pmu, id);
        let metrics: Vec<&'a MetricDefinition> = self.ids.iter().filter_map(is_metric).collect();
        for metric in &metrics {
            self.ids.remove(&metric.name);
        }
        for metric in metrics {
            self.add_reference(metric)?;
        }
        Ok(())
    }

    fn add_reference(&mut self, metric: &'a MetricDefinition) -> Result<(), MetricError> {
        let name = metric.name.as_ref();
        if self.open.contains(&name) {
            return Err(MetricError::Recursion(name.to_owned()));
        }
        if self.open.len() >= MetricPlan::MAX_REFERENCES {
            return Err(MetricError::TooDeep(name.to_owned()));
        }
        if self.met.contains(&name) {
            return Ok(());
        }
        self.met.push(name);
        let expression = expression_of(name, &metric.expression)?;
        self.open.push(name);
        self.add_ids(&expression)?;
        self.resolve_ids(metric.pmu.as_deref())?;
        self.references.push(Reference {
            name: name.to_owned(),
            expression,
        });
        self.open.pop();
        Ok(())
    }
}

fn expression_of(metric: &str, text: &str) -> Result<MetricExpression, MetricError> {
    MetricExpression::parse(text).map_err(|error| MetricError::Expression {
        metric: metric.to_owned(),
        error,
    })
}
