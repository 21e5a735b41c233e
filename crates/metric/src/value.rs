//! What counts say: the value of a planned metric, and whether it asks for attention.

use std::collections::HashMap;

use crate::{EventCounts, MetricEnvironment, MetricError, MetricScale, PlannedMetric};

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
        let mut values = WithReferences {
            counts,
            known: HashMap::new(),
        };
        // A name that is not known yet stands in a branch that constants have decided against.
        for reference in &self.references {
            let value = reference.expression.evaluate(environment, &values)?;
            values.known.insert(&reference.name, value);
        }
        let plain = self.expression.evaluate(environment, &values)?;
        let verdict = match &self.threshold {
            Some(threshold) => Some(verdict(threshold.evaluate(environment, &values)?)),
            None => None,
        };
        Ok(MetricValue {
            value: plain * self.scale.as_ref().map_or(1.0, |scale| scale.factor),
            verdict,
        })
    }

    /// Factor and unit of the value.
    pub fn scale(&self) -> Option<&MetricScale> {
        self.scale.as_ref()
    }
}

fn verdict(threshold: f64) -> ThresholdVerdict {
    if threshold.is_nan() {
        ThresholdVerdict::Unknown
    } else if threshold == 0.0 {
        ThresholdVerdict::Good
    } else {
        ThresholdVerdict::Bad
    }
}

/// Counts, and the values of the metrics that are referred to.
struct WithReferences<'a> {
    counts: &'a dyn EventCounts,
    known: HashMap<&'a str, f64>,
}

impl EventCounts for WithReferences<'_> {
    fn count(&self, id: &str) -> Option<f64> {
        self.known
            .get(id)
            .copied()
            .or_else(|| self.counts.count(id))
    }

    fn sources(&self, id: &str) -> Option<f64> {
        self.counts.sources(id)
    }
}
