//! Built-in metrics: every row is read, belongs to its core, and gives what the definition says.

use super::*;
use crate::{MachineConstants, MetricCatalogue, MetricExpression, MetricPlan, PlanOptions};

/// A machine that has the events of some PMUs.
struct Machine<'e> {
    constants: MachineConstants,
    /// Beginnings of the events that exist.
    events: &'e [&'e str],
}

impl MetricEnvironment for Machine<'_> {
    fn constant(&self, name: &str) -> Option<f64> {
        self.constants.value(name)
    }

    fn has_event(&self, event: &str) -> bool {
        self.events.iter().any(|start| event.starts_with(start))
    }

    fn cpuid_matches(&self, _pattern: &str) -> bool {
        false
    }
}

fn machine<'e>(events: &'e [&'e str]) -> Machine<'e> {
    Machine {
        constants: MachineConstants {
            slots: Some(5),
            ..MachineConstants::default()
        },
        events,
    }
}

fn core(name: &str, vendor: CoreVendor) -> CorePmu {
    CorePmu {
        name: name.to_owned(),
        vendor,
    }
}

const ZEN_4: CoreVendor = CoreVendor::Amd {
    dispatch_width: Some(6),
};

fn value(
    metrics: Vec<MetricDefinition>,
    name: &str,
    machine: &Machine,
    counts: &[(&str, f64)],
) -> f64 {
    let catalogue = MetricCatalogue::new([metrics]);
    let plan = MetricPlan::new(name, &catalogue, machine, &PlanOptions::default()).unwrap();
    let count = |id: &str| {
        counts
            .iter()
            .find(|(event, _)| *event == id)
            .map(|(_, count)| *count)
    };
    let value = plan.metrics[0].evaluate(machine, &count).unwrap().value;
    (value * 1e6).round() / 1e6
}

#[test]
fn every_row_is_read_and_its_threshold_names_it() {
    let everything = machine(&[""]);
    let mut metrics = common();
    for vendor in [CoreVendor::Intel, ZEN_4, CoreVendor::Arm] {
        metrics.extend(of_cores(&[core("cpu", vendor)], &everything));
    }
    assert!(metrics.len() > 50);
    for metric in &metrics {
        assert!(
            MetricExpression::parse(&metric.expression).is_ok(),
            "{}",
            metric.name
        );
        assert!(
            !metric.expression.contains("PMU") && !metric.expression.contains("WIDTH"),
            "{}",
            metric.name
        );
        if let Some(threshold) = &metric.threshold {
            let threshold = MetricExpression::parse(threshold).unwrap();
            assert!(
                threshold.names().any(|name| name == metric.name),
                "{}",
                metric.name
            );
        }
    }
}

#[test]
fn only_what_a_core_has_is_there() {
    let names = |cores: &[CorePmu], events| {
        let metrics = of_cores(cores, &machine(events));
        metrics
            .iter()
            .map(|metric| metric.name.to_string())
            .collect::<Vec<_>>()
    };
    let four = [
        "tma_retiring",
        "tma_bad_speculation",
        "tma_frontend_bound",
        "tma_backend_bound",
    ];
    let intel = [core("cpu", CoreVendor::Intel)];
    assert_eq!(
        names(
            &intel,
            &[
                "cpu@topdown-retiring",
                "cpu@topdown-bad",
                "cpu@topdown-fe-",
                "cpu@topdown-be-"
            ]
        ),
        four
    );
    assert_eq!(names(&intel, &["cpu@topdown-"]).len(), 12);
    assert_eq!(names(&intel, &["cpu@U", "cpu@I", "cpu@C"]), four);
    assert_eq!(names(&intel, &[""]).len(), 12);
    assert_eq!(names(&intel, &["cpu@topdown-retiring"]).len(), 0);
    assert_eq!(names(&[core("cpu", CoreVendor::Other)], &[""]).len(), 0);
    assert_eq!(names(&[core("cpu", ZEN_4)], &[""]).len(), 13);
    assert_eq!(
        names(
            &[core(
                "cpu",
                CoreVendor::Amd {
                    dispatch_width: None
                }
            )],
            &[""]
        )
        .len(),
        0
    );
    let arm = [core("armv8_pmuv3_0", CoreVendor::Arm)];
    assert_eq!(
        names(
            &arm,
            &[
                "armv8_pmuv3_0@stall_frontend",
                "armv8_pmuv3_0@stall_backend",
                "armv8_pmuv3_0@cpu_cycles"
            ]
        )
        .len(),
        2
    );
    assert_eq!(names(&arm, &["armv8"]).len(), 6);
}

#[test]
fn each_of_several_cores_has_its_own() {
    let cores = [
        core("cpu_core", CoreVendor::Intel),
        core("cpu_atom", CoreVendor::Intel),
    ];
    let metrics = of_cores(
        &cores,
        &machine(&[
            "cpu_core@topdown-",
            "cpu_atom@topdown-retiring",
            "cpu_atom@topdown-b",
            "cpu_atom@topdown-fe-",
        ]),
    );
    let on = |pmu: &str| {
        metrics
            .iter()
            .filter(|metric| metric.pmu.as_deref() == Some(pmu))
            .count()
    };
    // Small cores have no br-mispredict, but what begins with `b` is all there.
    assert_eq!((on("cpu_core"), on("cpu_atom")), (12, 4));
    let alone = of_cores(&cores[..1], &machine(&["cpu_core@topdown-"]));
    assert!(alone.iter().all(|metric| metric.pmu.is_none()));
}

#[test]
fn shares_of_slots() {
    let everything = machine(&["cpu@topdown-"]);
    let counts = [
        ("cpu@topdown-retiring@", 4e6),
        ("cpu@topdown-bad-spec@", 1e6),
        ("cpu@topdown-fe-bound@", 2e6),
        ("cpu@topdown-be-bound@", 3e6),
        ("cpu@topdown-heavy-ops@", 5e5),
        ("cpu@topdown-mem-bound@", 1.8e6),
        ("cpu@topdown-br-mispredict@", 1.2e6),
    ];
    let intel = |name: &str| {
        let metrics = of_cores(&[core("cpu", CoreVendor::Intel)], &everything);
        value(metrics, name, &everything, &counts)
    };
    assert_eq!(intel("tma_retiring"), 40.0);
    assert_eq!(intel("tma_backend_bound"), 30.0);
    assert_eq!(intel("tma_light_operations"), 35.0);
    assert_eq!(intel("tma_core_bound"), 12.0);
    assert_eq!(intel("tma_machine_clears"), 0.0);
    assert!(intel("tma_fetch_latency").is_nan());
}

#[test]
fn intels_corrections_of_shares() {
    let counts = [
        ("cpu@slots@", 1e7),
        ("cpu@topdown-retiring@", 4e6),
        ("cpu@topdown-bad-spec@", 1e6),
        ("cpu@topdown-fe-bound@", 2e6),
        ("cpu@topdown-be-bound@", 3e6),
        ("cpu@topdown-heavy-ops@", 5e5),
        ("cpu@topdown-br-mispredict@", 8e5),
        ("cpu@topdown-fetch-lat@", 1e6),
        ("cpu@topdown-mem-bound@", 1.8e6),
        ("cpu@INT_MISC.UOP_DROPPING@", 1e5),
        ("cpu@INT_MISC.CLEARS_COUNT@", 1e4),
    ];
    let values = |events: &[&str], names: &[&str]| -> Vec<f64> {
        let machine = machine(events);
        let metrics = || of_cores(&[core("cpu", CoreVendor::Intel)], &machine);
        let value = |name: &&str| value(metrics(), name, &machine, &counts);
        names
            .iter()
            .map(|name| (value(name) * 10.0).round() / 10.0)
            .collect()
    };
    let first = [
        "tma_retiring",
        "tma_bad_speculation",
        "tma_frontend_bound",
        "tma_backend_bound",
    ];
    let ice_lake = [
        "cpu@slots",
        "cpu@topdown-retiring",
        "cpu@topdown-bad",
        "cpu@topdown-fe-",
        "cpu@topdown-be-",
        "cpu@INT_MISC",
    ];
    assert_eq!(values(&ice_lake, &first), [40.0, 10.5, 19.0, 30.5]);
    let sapphire_rapids = ["cpu@slots", "cpu@topdown-", "cpu@INT_MISC"];
    assert_eq!(values(&sapphire_rapids, &first), [40.0, 11.0, 19.0, 30.0]);
    let second = [
        "tma_machine_clears",
        "tma_fetch_latency",
        "tma_fetch_bandwidth",
        "tma_core_bound",
    ];
    assert_eq!(values(&sapphire_rapids, &second), [3.0, 9.0, 10.0, 12.0]);
    let without_corrections = ["cpu@slots", "cpu@topdown-"];
    assert_eq!(
        values(&without_corrections, &first),
        [40.0, 10.0, 20.0, 30.0]
    );
}

#[test]
fn slots_of_older_cores() {
    let old = machine(&["cpu@U", "cpu@I", "cpu@C"]);
    let counts = [
        ("cpu@CPU_CLK_UNHALTED.THREAD@", 100.0),
        ("cpu@UOPS_ISSUED.ANY@", 220.0),
        ("cpu@UOPS_RETIRED.RETIRE_SLOTS@", 200.0),
        ("cpu@INT_MISC.RECOVERY_CYCLES@", 5.0),
        ("cpu@IDQ_UOPS_NOT_DELIVERED.CORE@", 60.0),
    ];
    let share = |name: &str| {
        value(
            of_cores(&[core("cpu", CoreVendor::Intel)], &old),
            name,
            &old,
            &counts,
        )
    };
    let four = [
        "tma_retiring",
        "tma_bad_speculation",
        "tma_frontend_bound",
        "tma_backend_bound",
    ];
    assert_eq!(four.map(share), [50.0, 10.0, 15.0, 25.0]);
}

#[test]
fn slots_of_dispatch() {
    let everything = machine(&[""]);
    let counts = [
        ("cpu@ls_not_halted_cyc@", 100.0),
        ("cpu@de_no_dispatch_per_slot.no_ops_from_frontend@", 120.0),
        (
            "cpu@de_no_dispatch_per_slot.no_ops_from_frontend,cmask=6@",
            10.0,
        ),
        ("cpu@de_no_dispatch_per_slot.backend_stalls@", 60.0),
        ("cpu@de_src_op_disp.all@", 420.0),
        ("cpu@ex_ret_ops@", 300.0),
        ("cpu@ex_no_retire.load_not_complete@", 1.0),
        ("cpu@ex_no_retire.not_complete@", 4.0),
    ];
    let share = |name: &str| {
        value(
            of_cores(&[core("cpu", ZEN_4)], &everything),
            name,
            &everything,
            &counts,
        )
    };
    let names = [
        "frontend_bound",
        "frontend_bound_latency",
        "frontend_bound_bandwidth",
        "bad_speculation",
        "retiring",
        "backend_bound_memory",
    ];
    assert_eq!(names.map(share), [20.0, 10.0, 10.0, 20.0, 50.0, 2.5]);
}

#[test]
fn slots_of_arm() {
    let everything = machine(&["pmu@"]);
    let counts = [
        ("pmu@cpu_cycles@", 100.0),
        ("pmu@stall_slot@", 250.0),
        ("pmu@stall_slot_frontend@", 100.0),
        ("pmu@stall_slot_backend@", 150.0),
        ("pmu@op_retired@", 4.0),
        ("pmu@op_spec@", 5.0),
    ];
    let share = |name: &str| {
        value(
            of_cores(&[core("pmu", CoreVendor::Arm)], &everything),
            name,
            &everything,
            &counts,
        )
    };
    assert_eq!(
        [
            "frontend_bound",
            "backend_bound",
            "retiring",
            "bad_speculation"
        ]
        .map(share),
        [20.0, 30.0, 40.0, 10.0]
    );
}

#[test]
fn cores_with_events_for_slots_show_their_levels_without_being_asked() {
    let headings = |metrics: &[MetricDefinition]| -> Vec<String> {
        let default = metrics.iter().filter(|metric| metric.is_in("Default"));
        default
            .filter_map(|metric| metric.default_group.as_deref().map(str::to_owned))
            .collect()
    };
    let slots = machine(&["cpu@topdown"]);
    let metrics = of_cores(&[core("cpu", CoreVendor::Intel)], &slots);
    let expected = [vec!["TopdownL1"; 4], vec!["TopdownL2"; 8]].concat();
    assert_eq!(headings(&metrics), expected);
    let older = machine(&["cpu@UOPS", "cpu@CPU_CLK", "cpu@IDQ", "cpu@INT_MISC"]);
    let metrics = of_cores(&[core("cpu", CoreVendor::Intel)], &older);
    assert_eq!((metrics.len(), headings(&metrics).len()), (4, 0));
    assert_eq!(headings(&common()).len(), 0);
}

#[test]
fn what_stat_shows_without_being_asked() {
    let groups = |group: &str| common().iter().filter(|metric| metric.is_in(group)).count();
    assert_eq!(
        ["Default", "Default2", "Default3", "Default4"].map(groups),
        [11, 2, 3, 1]
    );
    let nothing = machine(&[]);
    let cpus = value(
        common(),
        "CPUs_utilized",
        &nothing,
        &[
            ("software@task-clock,name=task-clock@", 5e8),
            ("duration_time", 1.0),
        ],
    );
    assert_eq!(cpus, 0.5);
}

#[test]
fn every_metric_says_what_it_says() {
    let vendors = [intel::TABLES.as_slice(), &amd::TABLES, &arm::TABLES];
    let of_cores = vendors.into_iter().flatten().copied().flatten();
    for row in common::ROWS.iter().chain(of_cores) {
        let description = descriptions::of(row.name);
        // Lists break lines at commas and leave out the blank behind them, as perf's do.
        assert!(
            description.is_some_and(|text| !text.contains([',', '.'])),
            "{}",
            row.name
        );
    }
}
