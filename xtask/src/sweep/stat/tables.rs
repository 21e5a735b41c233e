//! The metrics that perf7 has for a made-up machine, as a folder of tables: ours has none built in that are written by a
//! vendor, and would count others.
//!
//! They are what perf7 lists; what it does not list is learnt from its plans. Folders are kept in `target/sweep/stat-tables`
//! (delete one to have it made again).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oxperf_metric::builtin::common;
use oxperf_metric::{EventGrouping, MetricDefinition};
use serde_json::{Map, Value};

use crate::sweep::metrics;

/// The folder of a machine's metrics, made if it is not there; none of a machine of which perf7 has no tables.
pub(super) fn folder(
    shared: &Path,
    scratch: &Path,
    machine: &str,
    jobs: usize,
) -> Result<Option<PathBuf>> {
    let folder = scratch.join("stat-tables").join(machine);
    if !folder.join("mapfile.csv").is_file() {
        let definitions = metrics::of_machine(shared, machine, jobs)?;
        write(&folder, &machine_id(shared, machine)?, &definitions)?;
    }
    let has_metrics =
        std::fs::metadata(folder.join("model/metrics.json"))?.len() > "[]".len() as u64;
    Ok(has_metrics.then_some(folder))
}

/// perf's string for the CPU of a machine.
fn machine_id(shared: &Path, machine: &str) -> Result<String> {
    let path = shared.join("tools/fakemachine/machines").join(machine);
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut lines = text.lines();
    let id = lines.find_map(|line| line.strip_prefix("cpuid "));
    Ok(id.context("a machine without cpuid")?.trim().to_owned())
}

fn write(folder: &Path, id: &str, definitions: &[MetricDefinition]) -> Result<()> {
    let common = common();
    let is_own = |metric: &&MetricDefinition| !common.iter().any(|other| other.name == metric.name);
    let metrics: Vec<Value> = definitions.iter().filter(is_own).map(entry).collect();
    std::fs::create_dir_all(folder.join("model"))?;
    std::fs::write(
        folder.join("model/metrics.json"),
        serde_json::to_vec(&metrics)?,
    )?;
    let rows = format!("CPUID,Version,Filename,EventType\n{id},v1,model,core\n");
    Ok(std::fs::write(folder.join("mapfile.csv"), rows)?)
}

/// A metric as tables have it.
fn entry(metric: &MetricDefinition) -> Value {
    let mut fields = Map::new();
    let mut put = |key: &str, text: Option<&str>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            fields.insert(key.to_owned(), text.into());
        }
    };
    put("MetricName", Some(&metric.name));
    put("MetricExpr", Some(&metric.expression));
    put("MetricGroup", Some(&metric.groups.join(";")));
    put("MetricThreshold", metric.threshold.as_deref());
    put("ScaleUnit", metric.scale_unit.as_deref());
    put("Unit", metric.pmu.as_deref());
    put("MetricgroupNoGroup", Some(&metric.ungrouped_in.join(";")));
    let is_never = metric.grouping == EventGrouping::Never;
    put("MetricConstraint", is_never.then_some("NO_GROUP_EVENTS"));
    let levels = ["TopdownL1", "TopdownL2"];
    let is_default = metric.groups.iter().any(|group| group == "Default");
    let level = levels
        .into_iter()
        .find(|level| metric.groups.iter().any(|group| group == level));
    put("DefaultMetricgroupName", level.filter(|_| is_default));
    Value::Object(fields)
}
