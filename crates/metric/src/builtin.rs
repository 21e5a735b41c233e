//! Metrics that are built in, from what architectures and vendors define: those that `stat` shows without being asked, and
//! the top-down method for every core PMU that has events for it. The tables stand in the files below.

mod amd;
mod arm;
mod common;
mod descriptions;
mod intel;
mod row;

use crate::{MetricDefinition, MetricEnvironment};
use row::Row;

/// A PMU of CPU cores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CorePmu {
    /// Its name: `cpu`, `cpu_atom`, `armv8_pmuv3_0`.
    pub name: String,
    /// Whose events it has.
    pub vendor: CoreVendor,
}

/// Whose events a core PMU has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CoreVendor {
    /// Intel, big and small cores.
    Intel,
    /// AMD, with the operations that a cycle dispatches: 6 on Zen 4, 8 on Zen 5.
    Amd {
        /// Operations in a cycle; none where the core has no events for lost slots.
        dispatch_width: Option<u32>,
    },
    /// 64-bit Arm.
    Arm,
    /// Another one: only the metrics of generic events.
    Other,
}

/// The metrics of generic events, the same for every core.
pub fn common() -> Vec<MetricDefinition> {
    common::ROWS
        .iter()
        .map(|row| row.definition("", None))
        .collect()
}

/// The metrics of the cores of a machine, as far as their events exist. With several core PMUs each metric belongs to one.
pub fn of_cores(cores: &[CorePmu], environment: &dyn MetricEnvironment) -> Vec<MetricDefinition> {
    let several = cores.len() > 1;
    let mut metrics: Vec<MetricDefinition> = Vec::new();
    for core in cores {
        let has_events = |row: &Row| row.has_events(&core.name, environment);
        let tables = tables(core.vendor).iter();
        for row in tables
            .filter(|table| table.iter().all(has_events))
            .copied()
            .flatten()
        {
            let metric = definition(row, core, several.then_some(core.name.as_str()));
            if !metrics
                .iter()
                .any(|other| other.name == metric.name && other.pmu == metric.pmu)
            {
                metrics.push(metric);
            }
        }
    }
    metrics
}

fn definition(row: &Row, core: &CorePmu, pmu: Option<&str>) -> MetricDefinition {
    let mut definition = row.definition(&core.name, pmu);
    if let CoreVendor::Amd {
        dispatch_width: Some(width),
    } = core.vendor
    {
        definition.expression = definition
            .expression
            .replace("WIDTH", &width.to_string())
            .into();
    }
    definition
}

/// The tables of a vendor: of each, all metrics are there or none.
fn tables(vendor: CoreVendor) -> &'static [&'static [Row]] {
    match vendor {
        CoreVendor::Intel => &intel::TABLES,
        CoreVendor::Amd {
            dispatch_width: Some(_),
        } => &amd::TABLES,
        CoreVendor::Arm => &arm::TABLES,
        CoreVendor::Amd {
            dispatch_width: None,
        }
        | CoreVendor::Other => &[],
    }
}

#[cfg(test)]
mod tests;
