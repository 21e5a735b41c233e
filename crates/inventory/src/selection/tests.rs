//! Words and what they show.

use super::*;
use crate::EventCategory;

fn event(unit: &str, name: &str, topic: Option<&str>) -> CountableEvent {
    CountableEvent {
        unit: Some(unit.to_owned().into()),
        topic: topic.map(str::to_owned),
        ..CountableEvent::named(EventCategory::Pmu, name.to_owned())
    }
}

fn all() -> Vec<CountableEvent> {
    let old = CountableEvent {
        is_deprecated: true,
        ..event("cpu", "l1d", Some("legacy cache"))
    };
    let software = CountableEvent {
        pmu_kind: Some(EventType::SOFTWARE),
        ..event("software", "cs", Some("software"))
    };
    let tracepoint = CountableEvent {
        pmu_kind: Some(EventType::TRACEPOINT),
        ..event("tracepoint", "sched:sched_switch", None)
    };
    vec![
        event("msr", "msr/tsc/", None),
        tracepoint,
        event("cpu", "cycles", Some("legacy hardware")),
        event("cpu", "l1-dcache-loads", Some("legacy cache")),
        old,
        software,
        event("tool", "duration_time", Some("tool")),
    ]
}

fn shown(words: &[&str], options: &ListOptions) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let of_section = |section: ListSection| match section {
        ListSection::Events(filter) => {
            let all = all().into_iter().filter(move |event| filter.admits(event));
            all.map(|event| event.name).collect::<Vec<_>>()
        }
        _ => Vec::new(),
    };
    sections(&words, options)
        .into_iter()
        .flat_map(of_section)
        .collect()
}

#[test]
fn words_name_categories_or_parts_of_names() {
    let plain = ListOptions::default();
    assert_eq!(shown(&[], &plain).len(), 6);
    for (words, names) in [
        (&["hw"][..], &["cycles"][..]),
        (&["sw"], &["cs", "duration_time"]),
        (&["cache"], &["l1-dcache-loads"]),
        (&["tracepoint"], &["sched:sched_switch"]),
        (
            &["pmu"],
            &["msr/tsc/", "cycles", "l1-dcache-loads", "duration_time"],
        ),
        (&["sched:*"], &["sched:sched_switch"]),
        (&["sched:"], &[]),
        (&["CACHE"], &["l1-dcache-loads"]),
        (&["CYCLES"], &[]),
        (&["tool", "ts?"], &["duration_time", "msr/tsc/"]),
        (&["hwmon"], &[]),
    ] {
        assert_eq!(shown(words, &plain), names, "{words:?}");
    }
}

#[test]
fn options_hold_for_all_words() {
    let unit = ListOptions {
        unit: Some("c*".into()),
        deprecated: true,
        ..ListOptions::default()
    };
    assert_eq!(shown(&[], &unit), ["cycles", "l1-dcache-loads", "l1d"]);
    assert_eq!(
        shown(&["hw", "tracepoint"], &unit),
        ["cycles", "sched:sched_switch"]
    );
    let metrics = |options: &ListOptions| match sections(&[], options).pop() {
        Some(ListSection::Metrics(filter)) => filter.metrics && filter.groups,
        other => panic!("{other:?}"),
    };
    assert!(!metrics(&unit));
    let cores = ListOptions {
        unit_is_core_type: true,
        ..unit
    };
    assert!(metrics(&cores) && metrics(&ListOptions::default()));
}

#[test]
fn a_pattern_matches_metrics_and_groups() {
    let metric = ListedMetric {
        group: "TopdownL1".into(),
        name: "tma_retiring".into(),
        expression: String::new(),
        threshold: None,
        scale_unit: None,
        brief: None,
        long: None,
        unit: "default_core".into(),
    };
    let admits = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        sections(&words, &ListOptions::default())
            .iter()
            .any(|section| match section {
                ListSection::Metrics(filter) => filter.admits(&metric),
                _ => false,
            })
    };
    assert!(admits(&[]) && admits(&["metric"]) && admits(&["down"]) && admits(&["ret"]));
    assert!(!admits(&["topdown"]) && !admits(&["hw"]));
}
