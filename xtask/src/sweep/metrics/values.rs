//! The values that perf7 prints, beside ours over the counts that it looked up.

use std::path::Path;

use anyhow::Result;
use oxperf_metric::{MetricPlan, MetricValue, PlanOptions, PlannedMetric, ThresholdVerdict};

use super::Part;
use super::machine::Machine;
use super::plans::{Single, alone};
use super::reference::{Printed, Reference};

/// Counts that are 0, and counters that never ran, for machines whose expressions divide by them.
const HOSTILE: [(&str, &str); 2] = [
    (
        "intel-skylake",
        "cpu cycles 0\ncpu branch-misses 5 enabled=1000 running=0\ncpu event=0xc2,umask=2 7 enabled=1000 running=0\n",
    ),
    (
        "amd-zen4",
        "cpu cycles 0\ncpu branch-misses 5 enabled=1000 running=0\ncpu event=0xc1 7 enabled=1000 running=0\n",
    ),
];

/// The values over counts that are 0 or missing, event by event, so that no group hides which of them is.
pub(super) fn hostile(
    reference: &Reference,
    machine: &Machine,
    jobs: usize,
    scratch: &Path,
    part: &mut Part,
) -> Result<()> {
    let script = HOSTILE
        .iter()
        .find(|(name, _)| *name == reference.machine());
    let Some((_, counts)) = script else {
        return Ok(());
    };
    let file = scratch.join("counts");
    std::fs::write(&file, counts)?;
    let singles = alone(
        reference,
        machine,
        jobs,
        &["--metric-no-group"],
        Some(&file),
    )?;
    sweep(machine, &singles, part)
}

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
