//! What counts say: the value of a planned metric, and whether it asks for attention.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::{
    EventCounts, MetricEnvironment, MetricError, MetricExpression, MetricScale, PlannedMetric,
};

/// A metric computed over counts.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricValue {
    /// The value, scaled to its unit. NaN where there is none: a count is missing, or something was divided by zero.
    pub value: f64,
    /// What the threshold says, for a metric that has one.
    pub verdict: Option<ThresholdVerdict>,
}

/// What a threshold says of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThresholdVerdict {
    /// It is not passed.
    Good,
    /// It is passed.
    Bad,
    /// It cannot be told: a count is missing.
    Unknown,
}

impl PlannedMetric {
    /// The value over counts.
    ///
    /// # Errors
    /// A constant that is not known.
    pub fn evaluate(
        &self,
        environment: &dyn MetricEnvironment,
        counts: &dyn EventCounts,
    ) -> Result<MetricValue, MetricError> {
        let values = WithReferences {
            metric: self,
            environment,
            counts,
            known: RefCell::default(),
        };
        let plain = self.expression.evaluate(environment, &values)?;
        let factor = self.scale.as_ref().map_or(1.0, |scale| scale.factor);
        let verdict = match &self.threshold {
            Some(threshold) => Some(values.verdict(threshold)?),
            None => None,
        };
        Ok(MetricValue {
            value: plain * factor,
            verdict,
        })
    }

    /// Factor and unit of the value.
    pub fn scale(&self) -> Option<&MetricScale> {
        self.scale.as_ref()
    }
}

/// Counts, and the metrics that are referred to, each computed once.
struct WithReferences<'a> {
    metric: &'a PlannedMetric,
    environment: &'a dyn MetricEnvironment,
    counts: &'a dyn EventCounts,
    known: RefCell<HashMap<String, f64>>,
}

impl WithReferences<'_> {
    fn verdict(&self, threshold: &MetricExpression) -> Result<ThresholdVerdict, MetricError> {
        let value = threshold.evaluate(self.environment, self)?;
        Ok(if value.is_nan() {
            ThresholdVerdict::Unknown
        } else if value > 0.0 {
            ThresholdVerdict::Bad
        } else {
            ThresholdVerdict::Good
        })
    }

    fn reference(&self, name: &str) -> Option<f64> {
        let expression = self.metric.reference(name)?;
        if let Some(value) = self.known.borrow().get(name) {
            return Some(*value);
        }
        // The plan has refused circles and bounded the depth.
        let value = expression.evaluate(self.environment, self).ok()?;
        self.known.borrow_mut().insert(name.to_owned(), value);
        Some(value)
    }
}

impl EventCounts for WithReferences<'_> {
    fn count(&self, id: &str) -> Option<f64> {
        self.reference(id).or_else(|| self.counts.count(id))
    }

    fn sources(&self, id: &str) -> Option<f64> {
        self.counts.sources(id)
    }
}
