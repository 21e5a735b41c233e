//! `--why METRIC`: what a metric is made of, and whether it can be measured here.

use oxperf_metric::{
    MetricCatalogue, MetricDefinition, MetricEnvironment, MetricError, MetricExpression,
};
use oxperf_pmu::Catalogue;
use oxperf_pmu::metrics::MetricSystem;
use oxperf_pmu_events::EventTables;
use oxperf_present::json::object;
use oxperf_present::text::sanitize;

use super::{Countable, countable};
use crate::cmd::list::with_system;

/// A metric as it is measured here.
pub(super) struct MetricAnswer {
    metric: MetricDefinition,
    /// The reason why it cannot be measured; `None` if it can.
    refusal: Option<String>,
}

/// The metrics of a name; several where several kinds of cores have it.
pub(super) fn answers(
    name: &str,
    catalogue: &Catalogue<'_>,
    tables: &EventTables,
) -> Vec<MetricAnswer> {
    with_system(catalogue, |system| {
        let all = system.metrics(Some(tables));
        let named = all.iter().filter(|metric| metric.name == name);
        let answer = |metric: &MetricDefinition| MetricAnswer {
            refusal: refusal(metric, &all, system),
            metric: metric.clone(),
        };
        named.map(answer).collect()
    })
}

fn refusal(
    metric: &MetricDefinition,
    all: &MetricCatalogue,
    system: &MetricSystem<'_>,
) -> Option<String> {
    let needed = match needed(metric, system) {
        Ok(needed) => needed,
        Err(error) => return Some(error),
    };
    let is_metric = |name: &str| all.find(metric.pmu.as_deref(), name).is_some();
    let mut events = needed.iter().filter(|name| !is_metric(name));
    events.find_map(|name| {
        let found = system.events(name);
        if found.is_empty() {
            return Some(format!("this machine has no event {name}"));
        }
        found.iter().find_map(|event| match countable(event) {
            Countable::No(reason) => {
                let reason = reason.lines().next().unwrap_or_default();
                Some(format!("{name}: {reason}"))
            }
            Countable::ByKernel | Countable::ByProgram(_) => None,
        })
    })
}

/// The events and metrics that the expression asks for here.
fn needed(
    metric: &MetricDefinition,
    environment: &dyn MetricEnvironment,
) -> Result<Vec<String>, String> {
    let expression = MetricExpression::parse(&metric.expression);
    let expression = expression.map_err(|error| error.to_string())?;
    let ids = expression.ids(environment);
    let ids = ids.map_err(|error: MetricError| error.to_string())?;
    Ok(ids.iter().map(str::to_owned).collect())
}

/// The answer as text.
pub(super) fn shown(answer: &MetricAnswer) -> String {
    let metric = &answer.metric;
    let mut text = format!("{}\n", sanitize(&metric.name));
    let groups = metric.groups.join(", ");
    let lines = [
        ("says", metric.description.as_deref()),
        ("groups", Some(&*groups)),
        ("PMU", metric.pmu.as_deref()),
        ("formula", Some(&*metric.expression)),
        ("threshold", metric.threshold.as_deref()),
        ("unit", metric.scale_unit.as_deref()),
    ];
    for (title, value) in lines {
        if let Some(value) = value {
            text.push_str(&format!("  {title:<10}{}\n", sanitize(value)));
        }
    }
    let here = match &answer.refusal {
        None => "can be measured".to_owned(),
        Some(reason) => format!("cannot be measured: {}", sanitize(reason)),
    };
    text.push_str(&format!("  {:<10}{here}\n", "here"));
    text
}

/// The answer as a JSON object.
pub(super) fn write_json(out: &mut Vec<u8>, answer: &MetricAnswer) {
    let metric = &answer.metric;
    object::object(out, |keys| {
        keys.text("MetricName", &metric.name);
        keys.optional("BriefDescription", metric.description.as_deref());
        keys.text("MetricGroup", &metric.groups.join(";"));
        keys.optional("Unit", metric.pmu.as_deref());
        keys.text("MetricExpr", &metric.expression);
        keys.optional("MetricThreshold", metric.threshold.as_deref());
        keys.optional("ScaleUnit", metric.scale_unit.as_deref());
        keys.key("Countable", |out| {
            out.extend_from_slice(answer.refusal.is_none().to_string().as_bytes());
        });
        keys.optional("Reason", answer.refusal.as_deref());
    });
}
