//! The metrics of a system: those of its tables, the built-in ones, and what expressions ask of the system.

use crate::{Catalogue, CpuModel, ResolvedEvent, parse, resolve};
use oxperf_metric::builtin::{self, CorePmu, CoreVendor};
use oxperf_metric::{
    EventGrouping, MachineConstants, MetricCatalogue, MetricDefinition, MetricEnvironment,
};
use oxperf_pmu_events::{EventTables, TableMetric};
use regex_lite::RegexBuilder;

/// A pattern of more compiled size than this matches nothing: patterns come from files.
const MAX_PATTERN_SIZE: usize = 1 << 16;

/// A system as expressions of metrics see it.
pub struct MetricSystem<'a> {
    /// Its events.
    pub catalogue: &'a Catalogue<'a>,
    /// Its constants.
    pub constants: MachineConstants,
    /// The model of its CPU, where that is known.
    pub model: Option<&'a CpuModel>,
}

impl MetricEnvironment for MetricSystem<'_> {
    fn constant(&self, name: &str) -> Option<f64> {
        self.constants.value(name)
    }

    fn has_event(&self, event: &str) -> bool {
        !self.events(event).is_empty()
    }

    fn cpuid_matches(&self, pattern: &str) -> bool {
        let expression = RegexBuilder::new(&format!("^(?:{pattern})$"))
            .case_insensitive(true)
            .size_limit(MAX_PATTERN_SIZE)
            .build();
        match (expression, self.model) {
            (Ok(expression), Some(model)) => expression.is_match(model.as_str()),
            _ => false,
        }
    }
}

impl MetricSystem<'_> {
    /// The metrics of the system: those of tables, the built-in ones of its cores that no table has, and those of generic
    /// events.
    pub fn metrics(&self, tables: Option<&EventTables>) -> MetricCatalogue {
        let mut of_model: Vec<MetricDefinition> = tables
            .into_iter()
            .flat_map(EventTables::metrics)
            .map(definition)
            .collect();
        for metric in builtin::of_cores(&self.cores(), self) {
            let is_known =
                |other: &MetricDefinition| other.name == metric.name && other.pmu == metric.pmu;
            if !of_model.iter().any(is_known) {
                of_model.push(metric);
            }
        }
        MetricCatalogue::new([of_model, builtin::common()])
    }

    /// The events that a name of an expression means; none where the system has no such event.
    pub fn events(&self, name: &str) -> Vec<ResolvedEvent> {
        let found = parse(&as_text(name)).and_then(|list| resolve(&list, self.catalogue));
        found.unwrap_or_default()
    }

    fn cores(&self) -> Vec<CorePmu> {
        let vendor = vendor(self.model.map_or("", CpuModel::as_str));
        let core = |name: &str| CorePmu {
            name: name.to_owned(),
            vendor,
        };
        self.catalogue.core_names().into_iter().map(core).collect()
    }
}

/// The metric of a table.
pub fn definition(metric: TableMetric<'_>) -> MetricDefinition {
    let some = |text: Option<&str>| text.map(|text| text.to_owned().into());
    let list = |text: &str| {
        let names = text.split(';').filter(|name| !name.is_empty());
        names.map(|name| name.to_owned().into()).collect()
    };
    MetricDefinition {
        name: metric.name.to_owned().into(),
        description: some(metric.brief),
        groups: list(metric.groups),
        expression: metric.expression.to_owned().into(),
        threshold: some(metric.threshold),
        scale_unit: some(metric.scale_unit.map(|scale| scale.text)),
        pmu: some((metric.pmu != "cpu").then_some(metric.pmu)),
        grouping: metric
            .constraint
            .and_then(EventGrouping::from_constraint)
            .unwrap_or_default(),
        ungrouped_in: list(metric.apart_in.unwrap_or_default()),
        default_group: some(metric.default_group),
    }
}

/// The event of an expression as `-e` takes it: `msr@tsc@u` is `msr/tsc/u`.
fn as_text(event: &str) -> String {
    match (event.find('@'), event.rfind('@')) {
        (Some(first), Some(last)) if first < last => {
            format!(
                "{}/{}/{}",
                &event[..first],
                &event[first + 1..last],
                &event[last + 1..]
            )
        }
        _ => event.to_owned(),
    }
}

/// The first family of AMD's CPUs that counts slots of dispatch, with the models that begin it, is Zen 4.
fn vendor(model: &str) -> CoreVendor {
    let mut words = model.split('-');
    match words.next() {
        Some("GenuineIntel") => CoreVendor::Intel,
        Some("AuthenticAMD" | "HygonGenuine") => CoreVendor::Amd {
            dispatch_width: dispatch_width(words.next(), words.next()),
        },
        Some(midr) if midr.starts_with("0x") && midr.len() == 18 => CoreVendor::Arm,
        _ => CoreVendor::Other,
    }
}

/// Operations that a cycle dispatches: 6 on Zen 4 (family 25, models 0x10 to 0x1f and from 0x60 on), 8 on Zen 5 (family 26).
fn dispatch_width(family: Option<&str>, model: Option<&str>) -> Option<u32> {
    let model = u32::from_str_radix(model?, 16).ok()?;
    match (family?, model) {
        ("25", 0x10..=0x1f | 0x60..=0xaf) => Some(6),
        ("26", _) => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
