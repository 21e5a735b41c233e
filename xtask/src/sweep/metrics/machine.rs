//! A made-up machine as our crate sees it: the metrics that perf7 lists for it, its constants, its events.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use oxperf_metric::builtin::common;
use oxperf_metric::{
    EventGrouping, MachineConstants, MetricCatalogue, MetricDefinition, MetricEnvironment,
    MetricExpression,
};
use serde_json::Value;

use super::Part;
use super::reference::Reference;

/// Metrics and environment of a machine.
pub(super) struct Machine {
    pub(super) metrics: Vec<MetricDefinition>,
    constants: MachineConstants,
    /// Whether an event exists, for those that expressions ask for.
    events: BTreeMap<String, bool>,
}

impl Machine {
    /// Reads what perf7 lists, and `published` beside it: of two metrics of one name, on two PMUs, perf7 lists one. Which
    /// metrics have a grouping rule is not listed; [`Machine::set_ungrouped`] learns it.
    pub(super) fn read(reference: &Reference, published: Option<&Path>) -> Result<Machine> {
        let mut listed = reference.metrics()?;
        if let Some(published) = published {
            listed.extend(published_metrics(published)?);
        }
        let metrics = definitions(&listed);
        let events = asked_events(&metrics);
        let mut known = BTreeMap::new();
        for event in events {
            let exists = reference.has_event(&as_event(&event))?;
            known.insert(event, exists);
        }
        Ok(Machine {
            metrics,
            constants: constants(reference.machine()),
            events: known,
        })
    }

    /// The metrics as a catalogue: those of all models last.
    pub(super) fn catalogue(&self) -> MetricCatalogue {
        let common = common();
        let is_common =
            |metric: &MetricDefinition| common.iter().any(|common| common.name == metric.name);
        let (common, model) = self.metrics.iter().cloned().partition(is_common);
        MetricCatalogue::new([model, common])
    }

    /// Reads every expression.
    pub(super) fn parse_all(&self, part: &mut Part) {
        for metric in &self.metrics {
            for text in [Some(&metric.expression), metric.threshold.as_ref()]
                .into_iter()
                .flatten()
            {
                let parsed = MetricExpression::parse(text);
                part.compare(parsed.is_ok(), || format!("{}: {parsed:?}", metric.name));
            }
        }
    }

    /// Notes that perf7 does not group the events of a metric.
    pub(super) fn set_ungrouped(&mut self, name: &str) {
        for metric in self.metrics.iter_mut().filter(|metric| metric.name == name) {
            metric.grouping = EventGrouping::Never;
        }
    }
}

impl MetricEnvironment for Machine {
    fn constant(&self, name: &str) -> Option<f64> {
        self.constants.value(name)
    }

    fn has_event(&self, event: &str) -> bool {
        self.events.get(event).copied().unwrap_or(false)
    }

    fn cpuid_matches(&self, _pattern: &str) -> bool {
        false
    }
}

fn definitions(listed: &[Value]) -> Vec<MetricDefinition> {
    let mut metrics: BTreeMap<(String, String), MetricDefinition> = BTreeMap::new();
    for entry in listed {
        let text = |key: &str| entry[key].as_str().map(str::to_owned);
        let (Some(name), Some(expression)) = (text("MetricName"), text("MetricExpr")) else {
            continue;
        };
        let pmu = text("Unit").filter(|unit| unit != "default_core");
        let key = (pmu.clone().unwrap_or_default(), name.clone());
        let metric = metrics.entry(key).or_insert_with(|| MetricDefinition {
            name: name.into(),
            expression: expression.into(),
            threshold: text("MetricThreshold").map(Into::into),
            scale_unit: text("ScaleUnit").map(Into::into),
            pmu: pmu.map(Into::into),
            ..MetricDefinition::default()
        });
        let group = text("MetricGroup").unwrap_or_default();
        if metric.groups.iter().any(|known| *known == group) {
            continue;
        }
        metric.groups.push(group.into());
    }
    let mut metrics: Vec<MetricDefinition> = metrics.into_values().collect();
    for metric in &mut metrics {
        set_apart(metric);
    }
    metrics
}

/// Tables keep metrics of the top-down method from being grouped where they are asked for as a level, or shown unasked.
fn set_apart(metric: &mut MetricDefinition) {
    let levels = ["TopdownL1", "TopdownL2"];
    let is_level = |group: &str| levels.contains(&group);
    if metric.groups.iter().any(|group| is_level(group)) {
        let apart = |group: &&Cow<'static, str>| is_level(group) || **group == "Default";
        metric.ungrouped_in = metric.groups.iter().filter(apart).cloned().collect();
    }
}

/// The metrics of a published file whose names two PMUs have, a group each, as perf7 lists them.
fn published_metrics(path: &Path) -> Result<Vec<Value>> {
    let tree: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    let published = tree.as_array().map(Vec::as_slice).unwrap_or_default();
    let twice = |metric: &Value| {
        let of_name = |other: &&Value| other["MetricName"] == metric["MetricName"];
        published.iter().filter(of_name).count() > 1
    };
    let mut metrics = Vec::new();
    for metric in published.iter().filter(|metric| twice(metric)) {
        for group in metric["MetricGroup"]
            .as_str()
            .unwrap_or_default()
            .split(';')
        {
            let mut metric = metric.clone();
            metric["MetricGroup"] = group.into();
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

/// The events that `has_event` asks for.
fn asked_events(metrics: &[MetricDefinition]) -> BTreeSet<String> {
    let mut events = BTreeSet::new();
    for metric in metrics
        .iter()
        .filter(|metric| metric.expression.contains("has_event("))
    {
        let rests = metric.expression.split("has_event(").skip(1);
        events.extend(rests.filter_map(|rest| Some(rest.split_once(')')?.0.replace('\\', ""))));
    }
    events
}

/// `pmu@terms@` as `-e` takes it.
fn as_event(id: &str) -> String {
    id.replace('@', "/")
}

fn constants(machine: &str) -> MachineConstants {
    let two_sockets = machine == "intel-sapphirerapids";
    let sockets = if two_sockets { 2 } else { 1 };
    MachineConstants {
        num_cpus: Some(4),
        num_cpus_online: Some(4),
        num_cores: Some(if machine == "intel-alderlake" { 3 } else { 2 }),
        num_dies: Some(sockets),
        num_packages: Some(sockets),
        system_tsc_freq: two_sockets.then_some(2_000_000_000),
        ..MachineConstants::default()
    }
}
