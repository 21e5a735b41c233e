//! Metrics of the kernel's form.

use super::{Fields, FileContext, unit, without_stop};
use crate::entry::{ScaleUnit, TableMetric};
use crate::store::StoreBuilder;

/// Adds the metric of an object that is one.
pub(super) fn add(fields: &Fields<'_>, context: &FileContext<'_>, store: &mut StoreBuilder) {
    let (Some(name), Some(expression)) = (fields.get("MetricName"), fields.get("MetricExpr"))
    else {
        return;
    };
    let description = |name| fields.get(name).map(without_stop);
    store.metric(&TableMetric {
        name,
        pmu: &unit::pmu_of(fields, context.core),
        groups: fields.get("MetricGroup").unwrap_or_default(),
        expression,
        threshold: fields.get("MetricThreshold"),
        scale_unit: fields.get("ScaleUnit").map(|text| ScaleUnit { text }),
        apart_in: fields.get("MetricgroupNoGroup"),
        constraint: fields.get("MetricConstraint"),
        default_group: fields.get("DefaultMetricgroupName"),
        aggregation: fields.get("AggregationMode"),
        compat: fields.get("Compat"),
        brief: description("BriefDescription"),
        long: description("PublicDescription"),
    });
}
