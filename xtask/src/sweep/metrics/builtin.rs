//! The built-in metrics: those of generic events are perf7's, and perf7 knows every event of those of cores.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::Result;
use oxperf_metric::builtin::{CorePmu, CoreVendor, common, of_cores};
use oxperf_metric::{
    MetricCatalogue, MetricDefinition, MetricEnvironment, MetricPlan, PlanOptions,
};

use super::Part;
use super::machine::Machine;
use super::reference::Reference;

/// Our own metrics, which perf7 does not have.
const OWN_GROUPS: [&str; 2] = ["mpki", "cache"];

pub(super) fn sweep(reference: &Reference, machine: &Machine, part: &mut Part) -> Result<()> {
    for metric in common() {
        if OWN_GROUPS.iter().any(|group| metric.is_in(group)) {
            continue;
        }
        let listed = machine
            .metrics
            .iter()
            .find(|listed| listed.name == metric.name);
        part.compare(listed.is_some_and(|listed| same(listed, &metric)), || {
            format!("{}: perf7 {listed:?}, ours {metric:?}", metric.name)
        });
    }
    let live = Live {
        reference,
        machine,
        asked: RefCell::default(),
    };
    let metrics = of_cores(&cores(reference.machine()), &live);
    let catalogue = MetricCatalogue::new([metrics]);
    for metric in catalogue.iter() {
        let plan = MetricPlan::new(&metric.name, &catalogue, &live, &PlanOptions::default())?;
        for text in plan.event_texts() {
            let known = reference.has_event(&text)?;
            part.compare(known, || {
                format!("{}: perf7 does not know {text}", metric.name)
            });
        }
    }
    Ok(())
}

fn same(listed: &MetricDefinition, ours: &MetricDefinition) -> bool {
    let texts = |metric: &MetricDefinition| {
        [
            Some(metric.expression.clone()),
            metric.threshold.clone(),
            metric.scale_unit.clone(),
        ]
    };
    texts(listed) == texts(ours) && listed.groups == ours.groups && listed.grouping == ours.grouping
}

fn cores(machine: &str) -> Vec<CorePmu> {
    let core = |name: &str, vendor| CorePmu {
        name: name.to_owned(),
        vendor,
    };
    match machine {
        "intel-alderlake" => vec![
            core("cpu_core", CoreVendor::Intel),
            core("cpu_atom", CoreVendor::Intel),
        ],
        "amd-zen4" => vec![core(
            "cpu",
            CoreVendor::Amd {
                dispatch_width: Some(6),
            },
        )],
        "arm-neoverse-n1" => vec![core("armv8_pmuv3_0", CoreVendor::Arm)],
        _ => vec![core("cpu", CoreVendor::Intel)],
    }
}

/// A machine that asks perf7 for every event.
struct Live<'a> {
    reference: &'a Reference,
    machine: &'a Machine,
    asked: RefCell<BTreeMap<String, bool>>,
}

impl MetricEnvironment for Live<'_> {
    fn constant(&self, name: &str) -> Option<f64> {
        self.machine.constant(name)
    }

    fn has_event(&self, event: &str) -> bool {
        if let Some(known) = self.asked.borrow().get(event) {
            return *known;
        }
        let known = self
            .reference
            .has_event(&event.replace('@', "/"))
            .unwrap_or(false);
        self.asked.borrow_mut().insert(event.to_owned(), known);
        known
    }

    fn cpuid_matches(&self, _pattern: &str) -> bool {
        false
    }
}
