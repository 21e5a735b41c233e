//! Metrics of made-up systems.

use super::*;
use crate::{MemoryPmus, MemoryTracepoints};
use oxperf_metric::{MetricPlan, PlanOptions};
use oxperf_pmu_events::ScaleUnit;

fn ice_lake() -> MemoryPmus {
    let pmus = MemoryPmus::new()
        .pmu("cpu", 4)
        .format("event", "config:0-7")
        .format("umask", "config:8-15");
    ["retiring", "bad-spec", "fe-bound", "be-bound"]
        .iter()
        .enumerate()
        .fold(pmus, |pmus, (number, name)| {
            pmus.event(
                &format!("topdown-{name}"),
                &format!("event=0,umask={:#x}", 0x80 + number),
            )
        })
}

fn with_system<T>(pmus: &MemoryPmus, model: &str, then: impl FnOnce(&MetricSystem<'_>) -> T) -> T {
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(pmus, &tracepoints);
    let model = CpuModel::named(model);
    then(&MetricSystem {
        catalogue: &catalogue,
        constants: MachineConstants::default(),
        model: Some(&model),
    })
}

#[test]
fn events_and_models_of_the_system() {
    with_system(&ice_lake(), "GenuineIntel-6-7E-5", |system| {
        assert!(system.has_event("cpu@topdown-retiring@") && system.has_event("cycles:u"));
        assert!(system.has_event("cpu@event=0xc0,umask=1@k"));
        assert!(!system.has_event("cpu@topdown-heavy-ops@") && !system.has_event("msr@smi@"));
        assert!(!system.has_event("") && !system.has_event("@"));
        assert!(system.cpuid_matches("GenuineIntel-6-7[DE]-[[:xdigit:]]+"));
        assert!(!system.cpuid_matches("6-7E") && !system.cpuid_matches("("));
    });
}

#[test]
fn built_in_metrics_follow_the_cores() {
    with_system(&ice_lake(), "GenuineIntel-6-7E-5", |system| {
        let metrics = system.metrics(None);
        let level_1: Vec<_> = metrics
            .named("TopdownL1")
            .map(|metric| metric.name.as_ref())
            .collect();
        assert_eq!(
            level_1,
            [
                "tma_backend_bound",
                "tma_bad_speculation",
                "tma_frontend_bound",
                "tma_retiring"
            ]
        );
        assert_eq!(metrics.named("TopdownL2").count(), 0);
        assert_eq!(metrics.named("Default").count(), 11 + level_1.len());
        let plan = MetricPlan::new("TopdownL1", &metrics, system, &PlanOptions::default()).unwrap();
        assert_eq!(plan.batches.len(), 1);
        assert_eq!(plan.batches[0].events.len(), 4);
    });
}

#[test]
fn vendors_by_model() {
    assert_eq!(vendor("GenuineIntel-6-5E-3"), CoreVendor::Intel);
    let width = |model: &str| match vendor(model) {
        CoreVendor::Amd { dispatch_width } => dispatch_width,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [
            "AuthenticAMD-25-1-1",
            "AuthenticAMD-25-11-1",
            "AuthenticAMD-25-61-2",
            "AuthenticAMD-26-2-1"
        ]
        .map(width),
        [None, Some(6), Some(6), Some(8)]
    );
    assert_eq!(vendor("0x00000000410fd0c0"), CoreVendor::Arm);
    assert_eq!([vendor("0x004b0201"), vendor("")], [CoreVendor::Other; 2]);
}

#[test]
fn a_metric_of_a_table_wins_over_a_built_in_one() {
    let table = TableMetric {
        name: "tma_retiring",
        pmu: "cpu",
        groups: "TopdownL1;Retire",
        expression: "a / b",
        threshold: Some("tma_retiring > 0.5"),
        scale_unit: Some(ScaleUnit { text: "100%" }),
        apart_in: Some("TopdownL1;Default"),
        constraint: Some("NO_GROUP_EVENTS_NMI"),
        default_group: Some("TopdownL1"),
        aggregation: None,
        compat: None,
        brief: None,
        long: None,
    };
    let metric = definition(table);
    assert_eq!(
        (
            metric.groups.len(),
            metric.ungrouped_in.len(),
            metric.pmu.as_ref()
        ),
        (2, 2, None)
    );
    assert_eq!(metric.grouping, EventGrouping::NotBesideWatchdog);
    assert_eq!(metric.scale_unit.as_deref(), Some("100%"));
    let atom = definition(TableMetric {
        pmu: "cpu_atom",
        groups: "",
        ..table
    });
    assert_eq!(
        (atom.pmu.as_deref(), atom.groups.len()),
        (Some("cpu_atom"), 0)
    );
}
