//! The values that perf7 prints, beside ours over the counts that it looked up.

use anyhow::Result;
use oxperf_metric::{MetricPlan, MetricValue, PlanOptions, PlannedMetric, ThresholdVerdict};

use super::Part;
use super::machine::Machine;
use super::plans::Single;
use super::reference::Printed;

pub(super) fn sweep(machine: &Machine, singles: &[Single], part: &mut Part) -> Result<()> {
    let catalogue = machine.catalogue();
    for single in singles {
        let Ok(plan) = MetricPlan::new(&single.name, &catalogue, machine, &PlanOptions::default())
        else {
            continue;
        };
        if plan.metrics.len() != 1 {
            part.explain("a metric of several PMUs");
            continue;
        }
        let Some(printed) = single.said.printed.get(&single.name) else {
            part.explain("perf7 prints no value: its events do not exist or do not count here");
            continue;
        };
        compare(machine, &plan.metrics[0], single, printed, part)?;
    }
    Ok(())
}

fn compare(
    machine: &Machine,
    metric: &PlannedMetric,
    single: &Single,
    printed: &Printed,
    part: &mut Part,
) -> Result<()> {
    let counts = |id: &str| single.said.counts.get(id).copied();
    let value = metric.evaluate(machine, &counts)?;
    let ours = as_printed(metric, &value);
    part.compare(ours == *printed, || {
        format!("{}: perf7 {printed:?}, ours {ours:?}", metric.name)
    });
    Ok(())
}

fn as_printed(metric: &PlannedMetric, value: &MetricValue) -> Printed {
    let name = &metric.name;
    let unit = metric
        .scale()
        .map(|scale| scale.unit.as_str())
        .unwrap_or_default();
    let value_text = if value.value.is_nan() {
        "nan".to_owned()
    } else {
        format!("{:.6}", value.value)
    };
    Printed {
        value: value_text,
        unit: if unit.is_empty() {
            name.clone()
        } else {
            format!("{unit}  {name}")
        },
        threshold: match value.verdict {
            Some(ThresholdVerdict::Good) => Some("good".to_owned()),
            Some(ThresholdVerdict::Bad) => Some("bad".to_owned()),
            Some(ThresholdVerdict::Unknown) | None => None,
        },
    }
}
