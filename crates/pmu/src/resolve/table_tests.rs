//! Events of tables: which of several sources wins, which PMUs have them, and what becomes of their terms.

use super::*;
use crate::{MemoryPmus, MemoryTracepoints, parse};
use oxperf_pmu_events::EventTables;
use std::path::Path;

/// A Skylake server with some of its PMUs.
fn skylake() -> MemoryPmus {
    core("cpu", 4)
        .event("inst_retired.any", "event=0x77")
        .event("inst_retired.any.scale", "3")
        .event("inst_retired.any.unit", "Foo")
        .pmu("uncore_cha_0", 12)
        .format("event", "config:0-7")
        .format("umask", "config:8-15,32-55")
        .file("cpumask", "0")
        .pmu("uncore_cha_1", 13)
        .format("event", "config:0-7")
        .format("umask", "config:8-15,32-55")
        .file("cpumask", "0")
}

fn core(name: &str, kind: u32) -> MemoryPmus {
    with_core(MemoryPmus::new(), name, kind)
}

fn with_core(pmus: MemoryPmus, name: &str, kind: u32) -> MemoryPmus {
    pmus.pmu(name, kind)
        .format("event", "config:0-7")
        .format("umask", "config:8-15")
        .format("cmask", "config:24-31")
        .format("frontend", "config1:0-23")
        .file("cpus", "0-3")
}

fn resolved(cpu: &str, pmus: &MemoryPmus, text: &str) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    let (tables, tracepoints) = (
        EventTables::builtin(cpu).unwrap(),
        MemoryTracepoints::default(),
    );
    let catalogue = Catalogue::new(pmus, &tracepoints).with_tables(&tables);
    resolve(&parse(text)?, &catalogue)
}

/// Name, PMU, type, config, `config1` and period of each event.
fn shown(cpu: &str, pmus: &MemoryPmus, text: &str) -> String {
    let events = resolved(cpu, pmus, text).unwrap();
    let lines = events.iter().map(|event| {
        let (attr, period) = (&event.attr, event.table_period.unwrap_or_default());
        let kind = attr.kind.0;
        format!(
            "{} {} {kind}:{:#x} {:#x} {period}",
            event.name, event.pmu, attr.config, attr.config1
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

const SKYLAKE_SERVER: &str = "GenuineIntel-6-55-4";

#[test]
fn a_table_gives_config_and_period() {
    for (text, expected) in [
        (
            "ARITH.DIVIDER_ACTIVE:u",
            "ARITH.DIVIDER_ACTIVE:u cpu 4:0x1000114 0x0 2000003",
        ),
        (
            "frontend_retired.dsb_miss",
            "frontend_retired.dsb_miss cpu 4:0x1c6 0x11 100007",
        ),
        (
            "cpu/frontend_retired.dsb_miss,frontend=0x100,umask=2/",
            "cpu/frontend_retired.dsb_miss,frontend=0x100,umask=2/ cpu 4:0x3c6 0x111 100007",
        ),
        (
            "arith.divider_active/period=5,name=x/",
            "x cpu 4:0x1000114 0x0 2000003",
        ),
    ] {
        assert_eq!(shown(SKYLAKE_SERVER, &skylake(), text), expected);
    }
    let event = resolved(SKYLAKE_SERVER, &skylake(), "arith.divider_active/period=5/").unwrap();
    assert_eq!(event[0].terms.rate, Some(RateTerm::Period(5)));
}

#[test]
fn a_table_wins_over_the_kernel_but_for_what_it_does_not_say() {
    let events = resolved(SKYLAKE_SERVER, &skylake(), "inst_retired.any").unwrap();
    let [event] = &*events else {
        panic!("{events:?}")
    };
    assert_eq!(event.attr.config, 0xc0);
    assert_eq!(
        (event.unit.as_deref(), event.scale),
        (Some("Foo"), Some(3.0))
    );
}

#[test]
fn generic_events_come_last() {
    let events = resolved(SKYLAKE_SERVER, &skylake(), "cycles").unwrap();
    assert_eq!(events[0].attr.kind, EventType::HARDWARE);
}

#[test]
fn an_uncore_event_is_on_every_instance() {
    let expected = "unc_cha_clockticks uncore_cha_0 12:0x0 0x0 0\nunc_cha_clockticks uncore_cha_1 13:0x0 0x0 0";
    assert_eq!(
        shown(SKYLAKE_SERVER, &skylake(), "unc_cha_clockticks"),
        expected
    );
    let events = resolved(SKYLAKE_SERVER, &skylake(), "unc_cha_clockticks").unwrap();
    assert!(events[0].per_package && events[0].cpus.as_deref() == Some("0"));
    let one = shown(
        SKYLAKE_SERVER,
        &skylake(),
        "uncore_cha_1/unc_cha_clockticks,umask=1/",
    );
    assert_eq!(
        one,
        "uncore_cha_1/unc_cha_clockticks,umask=1/ uncore_cha_1 13:0x100 0x0 0"
    );
}

#[test]
fn an_event_of_a_pmu_that_is_not_here_is_none() {
    let error = resolved(SKYLAKE_SERVER, &skylake(), "unc_m_clockticks").unwrap_err();
    assert!(error.to_string().contains("Bad event name"), "{error}");
}

#[test]
fn cores_of_each_kind_have_their_own_events() {
    let hybrid = with_core(core("cpu_atom", 11), "cpu_core", 4);
    let expected = "\
cpu_atom/l2_request.all/ cpu_atom 11:0x24 0x0 200003
cpu_core/l2_request.all/ cpu_core 4:0xff24 0x0 200003";
    assert_eq!(
        shown("GenuineIntel-6-97-2", &hybrid, "l2_request.all"),
        expected
    );
    let atom_only = shown("GenuineIntel-6-97-2", &hybrid, "topdown_retiring.all");
    assert_eq!(
        atom_only,
        "cpu_atom/topdown_retiring.all/ cpu_atom 11:0xc2 0x0 1000003"
    );
}

#[test]
fn the_pmu_of_arm_cores_has_the_events_of_its_model() {
    let arm = MemoryPmus::new()
        .pmu("armv8_pmuv3_0", 10)
        .format("event", "config:0-15")
        .file("cpus", "0-3")
        .pmu("hisi_sccl3_l3c7", 11)
        .format("config", "config:0-7");
    let event = shown("0x00000000480fd010", &arm, "l1d_cache_rd");
    assert_eq!(event, "l1d_cache_rd armv8_pmuv3_0 10:0x40 0x0 0");
    let event = shown("0x00000000480fd010", &arm, "back_invalid");
    assert_eq!(event, "back_invalid hisi_sccl3_l3c7 11:0x29 0x0 0");
}

#[test]
fn an_event_of_power_from_a_file() {
    let text =
        r#"[{"EventCode": "0x100f2", "EventName": "PM_1PLUS_PPC_CMPL", "ScaleUnit": "64Bytes"}]"#;
    let tables = EventTables::of_cpu("004b0000").with_json(Path::new("pipeline.json"), text);
    let pmus = MemoryPmus::new()
        .pmu("cpu", 4)
        .format("event", "config:0-49");
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(&pmus, &tracepoints).with_tables(&tables);
    let events = resolve(&parse("pm_1plus_ppc_cmpl").unwrap(), &catalogue).unwrap();
    assert_eq!(events[0].attr.config, 0x100f2);
    assert_eq!(
        (events[0].unit.as_deref(), events[0].scale),
        (Some("Bytes"), Some(64.0))
    );
}
