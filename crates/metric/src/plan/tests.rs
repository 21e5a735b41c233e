//! Plans: what is asked for, what is shared, what is refused. Texts are those that `perf7 stat -vv -M ...` parses.

use super::*;
use crate::{EventGrouping, MachineConstants, ThresholdVerdict};

fn metric(
    name: &'static str,
    groups: &[&'static str],
    expression: &'static str,
) -> MetricDefinition {
    MetricDefinition {
        name: name.into(),
        groups: groups.iter().map(|group| (*group).into()).collect(),
        expression: expression.into(),
        ..MetricDefinition::default()
    }
}

fn with_threshold(threshold: &'static str, metric: MetricDefinition) -> MetricDefinition {
    MetricDefinition {
        threshold: Some(threshold.into()),
        ..metric
    }
}

/// Some of the metrics of a Skylake in perf 7.2.
fn catalogue() -> MetricCatalogue {
    let ungrouped = |metric| MetricDefinition {
        grouping: EventGrouping::Never,
        ..metric
    };
    MetricCatalogue::new([vec![
        with_threshold(
            "insn_per_cycle < 1",
            metric(
                "insn_per_cycle",
                &["Default"],
                r"instructions / cpu\-cycles",
            ),
        ),
        with_threshold(
            "branch_miss_rate > 0.05",
            metric(
                "branch_miss_rate",
                &["Default"],
                r"branch\-misses / branches",
            ),
        ),
        ungrouped(metric(
            "CPUs_utilized",
            &["Default"],
            r"software@task\-clock\,name\=task\-clock@ / (duration_time * 1e9)",
        )),
        metric(
            "tma_info_core_ilp",
            &["Port"],
            r"UOPS_EXECUTED.THREAD / cpu@UOPS_EXECUTED.THREAD\,cmask\=1@",
        ),
        metric(
            "lpm_cs_rate",
            &["Switches"],
            r"d_ratio(context\-switches, duration_time)",
        ),
        metric("cycles", &["Alone"], r"cpu\-cycles"),
    ]])
}

fn texts(list: &str, options: &PlanOptions) -> Vec<String> {
    let plan = MetricPlan::new(list, &catalogue(), &MachineConstants::default(), options).unwrap();
    plan.event_texts().collect()
}

const PLAIN: PlanOptions = PlanOptions {
    no_group: false,
    no_merge: false,
    no_threshold: false,
    watchdog: false,
    smt_on: false,
};

const CYCLES: &str = "cpu-cycles/metric-id=cpu!1cycles/";
const INSTRUCTIONS: &str = "instructions/metric-id=instructions/";
const CLOCK: &str =
    "software/task-clock,name=task-clock,metric-id=software!3task!1clock!0name!2task!1clock!3/";

#[test]
fn a_metric_is_a_weak_group() {
    assert_eq!(
        texts("insn_per_cycle", &PLAIN),
        [format!("{{{CYCLES},{INSTRUCTIONS}}}:W")]
    );
    assert_eq!(
        texts("INSN_PER_CYCLE:u", &PLAIN),
        [format!("{{{CYCLES}u,{INSTRUCTIONS}u}}:W")]
    );
}

#[test]
fn a_tool_event_is_added_to_every_set() {
    assert_eq!(
        texts("insn_per_cycle,lpm_cs_rate", &PLAIN),
        [
            format!("{{{CYCLES},{INSTRUCTIONS}}}:W,duration_time"),
            "{context-switches/metric-id=context!1switches/}:W,duration_time".to_owned(),
        ]
    );
    let apart = PlanOptions {
        no_merge: true,
        ..PLAIN
    };
    assert_eq!(
        texts("insn_per_cycle,lpm_cs_rate", &apart)[0],
        format!("{{{CYCLES},{INSTRUCTIONS}}}:W")
    );
}

#[test]
fn a_smaller_metric_finds_its_events_in_a_larger_one() {
    let plan = MetricPlan::new(
        "cycles,insn_per_cycle",
        &catalogue(),
        &MachineConstants::default(),
        &PLAIN,
    )
    .unwrap();
    assert_eq!(plan.batches.len(), 1);
    let names: Vec<_> = plan
        .metrics
        .iter()
        .map(|metric| (metric.name.as_str(), metric.batch))
        .collect();
    assert_eq!(names, [("insn_per_cycle", 0), ("cycles", 0)]);
    let apart = PlanOptions {
        no_merge: true,
        ..PLAIN
    };
    assert_eq!(texts("cycles,insn_per_cycle", &apart).len(), 2);
    // A modifier makes other events of them.
    assert_eq!(texts("cycles:u,insn_per_cycle", &PLAIN).len(), 2);
}

#[test]
fn without_groups_all_share_one_set() {
    let options = PlanOptions {
        no_group: true,
        ..PLAIN
    };
    assert_eq!(
        texts("insn_per_cycle,CPUs_utilized", &options),
        [format!("{CLOCK},{CYCLES},{INSTRUCTIONS},duration_time")]
    );
}

#[test]
fn the_rest_of_a_group_stands_beside_the_ungrouped() {
    assert_eq!(
        texts("default", &PLAIN),
        [
            format!("{CLOCK},duration_time"),
            format!("{{{CYCLES},{INSTRUCTIONS}}}:W,duration_time"),
            "{branch-misses/metric-id=branch!1misses/,branches/metric-id=branches/}:W,duration_time".to_owned(),
        ]
    );
}

#[test]
fn grouping_rules() {
    let grouped = |grouping, options: PlanOptions| {
        let metric = MetricDefinition {
            grouping,
            ..metric("m", &[], "a / b")
        };
        let catalogue = MetricCatalogue::new([vec![metric]]);
        let plan = MetricPlan::new("m", &catalogue, &MachineConstants::default(), &options);
        plan.unwrap().batches[0].grouped
    };
    let watched = PlanOptions {
        watchdog: true,
        ..PLAIN
    };
    let rules = [
        EventGrouping::Group,
        EventGrouping::Never,
        EventGrouping::NotBesideWatchdog,
        EventGrouping::NotWithSmt,
        EventGrouping::NotWithThresholdBesideWatchdog,
    ];
    assert_eq!(
        rules.map(|rule| grouped(rule, PLAIN)),
        [true, false, true, true, true]
    );
    assert_eq!(
        rules.map(|rule| grouped(rule, watched)),
        [true, false, false, true, false]
    );
    let smt = PlanOptions {
        smt_on: true,
        ..PLAIN
    };
    assert_eq!(
        rules.map(|rule| grouped(rule, smt)),
        [true, false, true, false, true]
    );
    let alone = PlanOptions {
        no_threshold: true,
        ..watched
    };
    assert_eq!(
        rules.map(|rule| grouped(rule, alone)),
        [true, false, false, true, true]
    );
}

#[test]
fn a_group_can_keep_its_metrics_from_being_grouped() {
    let metric = MetricDefinition {
        ungrouped_in: vec!["TopdownL1".into()],
        ..metric("m", &["TopdownL1"], "a / b")
    };
    let catalogue = MetricCatalogue::new([vec![metric]]);
    let text = |list: &str| {
        let plan = MetricPlan::new(list, &catalogue, &MachineConstants::default(), &PLAIN);
        plan.unwrap().event_texts().collect::<String>()
    };
    assert_eq!(text("topdownl1"), "b/metric-id=b/,a/metric-id=a/");
    assert_eq!(text("m"), "{b/metric-id=b/,a/metric-id=a/}:W");
}

#[test]
fn a_metric_without_events_counts_time() {
    let catalogue = MetricCatalogue::new([vec![metric("constant", &[], "1 + 1")]]);
    let plan =
        MetricPlan::new("constant", &catalogue, &MachineConstants::default(), &PLAIN).unwrap();
    assert_eq!(plan.event_texts().collect::<Vec<_>>(), ["duration_time"]);
}

#[test]
fn references_bring_their_events_and_values() {
    let catalogue = MetricCatalogue::new([vec![
        with_threshold("outer > 1 & other > 0.5", metric("outer", &[], "inner / a")),
        metric("inner", &[], "b + core"),
        metric("core", &[], "c if #smt_on else d"),
        metric("other", &[], "e"),
    ]]);
    let machine = MachineConstants::default();
    let counts = |id: &str| match id {
        "a" => Some(2.0),
        "b" => Some(3.0),
        "d" => Some(5.0),
        "e" => Some(0.75),
        _ => None,
    };
    let plan = MetricPlan::new("outer", &catalogue, &machine, &PLAIN).unwrap();
    let mut ids: Vec<_> = plan.metrics[0].ids.iter().collect();
    ids.sort_unstable();
    assert_eq!(ids, ["a", "b", "d", "e"]);
    let value = plan.metrics[0].evaluate(&machine, &counts).unwrap();
    assert_eq!(
        (value.value, value.verdict),
        (4.0, Some(ThresholdVerdict::Bad))
    );

    // Without its own events the threshold is told only as far as others count.
    let alone = PlanOptions {
        no_threshold: true,
        ..PLAIN
    };
    let plan = MetricPlan::new("outer", &catalogue, &machine, &alone).unwrap();
    assert!(!plan.metrics[0].ids.contains("e"));
    let value = plan.metrics[0].evaluate(&machine, &|id: &str| counts(id).filter(|_| id != "e"));
    assert_eq!(value.unwrap().verdict, Some(ThresholdVerdict::Unknown));
}

#[test]
fn a_division_by_zero_is_no_value_and_no_verdict() {
    let catalogue = catalogue();
    let machine = MachineConstants::default();
    let plan = MetricPlan::new("insn_per_cycle", &catalogue, &machine, &PLAIN).unwrap();
    let value = plan.metrics[0].evaluate(&machine, &|id: &str| {
        Some(if id == "instructions" { 5.0 } else { 0.0 })
    });
    let value = value.unwrap();
    assert!(value.value.is_nan());
    assert_eq!(value.verdict, Some(ThresholdVerdict::Unknown));
}

#[test]
fn what_is_refused() {
    let refused = |metrics: Vec<MetricDefinition>, list: &str| {
        let catalogue = MetricCatalogue::new([metrics]);
        let plan = MetricPlan::new(list, &catalogue, &MachineConstants::default(), &PLAIN);
        plan.unwrap_err().to_string()
    };
    assert_eq!(refused(vec![], "IpB"), "Cannot find metric or group `IpB'");
    assert_eq!(
        refused(vec![metric("a", &[], "b")], "a,"),
        "Cannot find metric or group `'"
    );
    assert_eq!(
        refused(vec![metric("a", &[], "1 +")], "a"),
        "metric a: at byte 3: expected a value, found the end"
    );
    assert_eq!(
        refused(vec![metric("a", &[], "#slots")], "a"),
        "unknown constant `#slots`"
    );
    assert_eq!(
        refused(vec![metric("a", &[], "a + 1")], "a"),
        "metric a refers to itself"
    );
    let circle = vec![
        metric("a", &[], "b"),
        metric("b", &[], "c"),
        metric("c", &[], "a"),
    ];
    assert_eq!(refused(circle.clone(), "a"), "metric a refers to itself");
    let mut circle = circle;
    circle[0] = with_threshold("a > 1", circle[0].clone());
    assert_eq!(refused(circle, "a"), "metric a refers to itself");
}

#[test]
fn a_circle_through_a_branch_that_constants_decide_is_none() {
    let catalogue = MetricCatalogue::new([vec![
        with_threshold("outer > 1", metric("outer", &[], "inner + 1")),
        metric("inner", &[], "outer if #smt_on else a"),
    ]]);
    let machine = MachineConstants::default();
    let plan = MetricPlan::new("outer", &catalogue, &machine, &PLAIN).unwrap();
    let value = plan.metrics[0]
        .evaluate(&machine, &|_: &str| Some(3.0))
        .unwrap();
    assert_eq!(
        (value.value, value.verdict),
        (4.0, Some(ThresholdVerdict::Bad))
    );
}

#[test]
fn chains_of_references_are_bounded_and_wide_ones_are_quick() {
    let chain = |length: usize| {
        let link = |number: usize| MetricDefinition {
            name: format!("m{number}").into(),
            expression: format!("m{} + m{} + e{number}", number + 1, number + 2).into(),
            ..MetricDefinition::default()
        };
        let catalogue = MetricCatalogue::new([(0..length).map(link).collect()]);
        MetricPlan::new("m0", &catalogue, &MachineConstants::default(), &PLAIN)
    };
    let plan = chain(MetricPlan::MAX_REFERENCES - 1).unwrap();
    let value = plan.metrics[0].evaluate(&MachineConstants::default(), &|_: &str| Some(1.0));
    assert!(value.unwrap().value > 1e12);
    assert!(matches!(chain(1000), Err(MetricError::TooDeep(_))));
}
