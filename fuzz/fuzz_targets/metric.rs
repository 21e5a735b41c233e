//! Metric expressions, and metrics that refer to each other, one a line: nothing may panic, overflow the stack or take long,
//! and what constants decide may not depend on counts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oxperf_metric::{
    EventGrouping, MachineConstants, MetricCatalogue, MetricDefinition, MetricExpression,
    MetricPlan, MetricScale, PlanOptions,
};

fuzz_target!(|text: &str| {
    let machine = MachineConstants::default();
    if let Ok(expression) = MetricExpression::parse(text) {
        let none = expression.evaluate(&machine, &|_: &str| None);
        let some = expression.evaluate(&machine, &|_: &str| Some(2.0));
        let ids = expression.ids(&machine);
        assert_eq!(none.is_ok(), some.is_ok());
        assert_eq!(none.is_ok(), ids.is_ok());
    }
    let metrics = text.lines().take(64).enumerate().map(metric).collect();
    let catalogue = MetricCatalogue::new([metrics]);
    for no_merge in [false, true] {
        let options = PlanOptions {
            no_merge,
            ..PlanOptions::default()
        };
        let Ok(plan) = MetricPlan::new("all", &catalogue, &machine, &options) else {
            continue;
        };
        assert!(plan.event_texts().all(|text| !text.is_empty()));
        for metric in &plan.metrics {
            assert!(metric.batch < plan.batches.len());
            let _ = metric.evaluate(&machine, &|id: &str| Some(id.len() as f64));
        }
    }
});

/// The metric of a line: `m0` is that of the first. A second half behind `;` is its threshold.
fn metric((number, line): (usize, &str)) -> MetricDefinition {
    let (expression, threshold) = line
        .split_once(';')
        .map_or((line, None), |(a, b)| (a, Some(b)));
    let _ = MetricScale::parse(line);
    MetricDefinition {
        name: format!("m{number}").into(),
        expression: expression.to_owned().into(),
        threshold: threshold.map(|text| text.to_owned().into()),
        grouping: EventGrouping::from_constraint(line).unwrap_or_default(),
        ..MetricDefinition::default()
    }
}
