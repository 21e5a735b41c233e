//! A comparison in each form.

use std::time::Duration;

use oxperf_analysis::counts::{MeasuredEvent, MeasuredRun, RunCount, RunOrigin};

use super::*;

fn event(name: &str, unit: &str, values: &[f64]) -> MeasuredEvent {
    let count = |&value: &f64| RunCount {
        value: Some(value),
        ..RunCount::default()
    };
    MeasuredEvent {
        name: name.to_owned(),
        unit: unit.to_owned(),
        scale: 1.0,
        is_supported: true,
        counts: values.iter().map(count).collect(),
        ..MeasuredEvent::default()
    }
}

fn runs(processor: &str, events: Vec<MeasuredEvent>) -> MeasuredRuns {
    let run = |elapsed| MeasuredRun {
        elapsed: Duration::from_millis(elapsed),
        ..MeasuredRun::default()
    };
    MeasuredRuns {
        origin: RunOrigin {
            subject: "'a\u{1b}[31m'".to_owned(),
            processor: Some(processor.to_owned()),
            ..RunOrigin::default()
        },
        runs: vec![run(10), run(11), run(12)],
        events,
    }
}

fn shown(form: &CountForm) -> String {
    let refused = MeasuredEvent {
        is_supported: false,
        reason: Some("there is no counter".to_owned()),
        ..event("cycles", "", &[])
    };
    let before = runs(
        "one",
        vec![
            event("task-clock", "msec", &[10.0, 10.1, 10.2]),
            event("page-faults", "", &[5000.0, 5000.0, 5000.0]),
            event("gone", "", &[1.0, 3.0]),
            refused.clone(),
        ],
    );
    let after = runs(
        "other",
        vec![
            event("task-clock", "msec", &[11.0, 11.1, 11.3]),
            event("page-faults", "", &[5001.0, 5001.0, 5001.0]),
            refused,
        ],
    );
    let mut out = Vec::new();
    let page = ComparisonPage {
        before: &before,
        before_name: "a.json",
        after: &after,
        after_name: "b.json",
        comparison: &RunComparison::new(&before, &after),
        digit_separator: ",",
    };
    comparison(&mut out, &page, form);
    String::from_utf8(out).unwrap()
}

#[test]
fn text_says_what_differs_and_whether_it_is_more_than_chance() {
    let expected = "
 A  a.json: 'a\\x1b[31m' (3 runs)
 B  b.json: 'a\\x1b[31m' (3 runs)
    The processors differ: one; other

                                     A                   B  difference
 task-clock [msec]     10.100 +- 0.058     11.133 +- 0.088      +1.033  +10.23%  more than chance, p = 0.001
 page-faults                5,000 +- 0          5,001 +- 0          +1   +0.02%  more than chance, no run differs
 gone                       2.0 +- 1.0                   -
 cycles                <not supported>     <not supported>
 elapsed [s]        0.01100 +- 0.00058  0.01100 +- 0.00058    +0.00000   +0.00%  chance, p = 1.000

 Not counted in A and B: cycles: there is no counter
";
    let text = shown(&CountForm::Text);
    assert_eq!(text, expected);
}

#[test]
fn csv_has_a_field_for_everything() {
    let text = shown(&CountForm::Csv {
        separator: ";".to_owned(),
    });
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    assert!(
        lines.iter().all(|line| line.len() == lines[0].len()),
        "{text}"
    );
    let faults = [
        "page-faults",
        "",
        "",
        "5000",
        "0",
        "3",
        "5001",
        "0",
        "3",
        "1",
        "0.02",
        "0",
        "more-than-chance",
    ];
    assert_eq!(lines[2], faults);
    assert_eq!(lines[3][..9], ["gone", "", "", "2", "1", "2", "-", "", "0"]);
    assert_eq!(
        lines[4][3..9],
        ["<not supported>", "", "0", "<not supported>", "", "0"]
    );
}

#[test]
fn the_page_names_every_key_of_the_documents() {
    let page = include_str!("../../../../../docs/stat-json.md");
    let mut runs = Vec::new();
    super::super::write_runs(&mut runs, &self::runs("one", vec![event("a", "", &[1.0])]));
    for text in [String::from_utf8(runs).unwrap(), shown(&CountForm::Json)] {
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let form = format!(
            "`{}`, version {}",
            document["format"].as_str().unwrap(),
            document["version"]
        );
        assert!(page.contains(&form), "{form}");
        for key in keys(&document) {
            assert!(page.contains(&format!("`{key}`")), "{key}");
        }
    }
}

#[test]
fn the_example_of_the_page_can_be_read() {
    let page = include_str!("../../../../../docs/stat-json.md");
    let (_, example) = page.split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let runs = super::super::read_runs(example.as_bytes()).unwrap();
    assert_eq!((runs.runs.len(), runs.events.len()), (2, 2));
    let mut written = Vec::new();
    super::super::write_runs(&mut written, &runs);
    assert_eq!(String::from_utf8(written).unwrap(), example);
}

/// All keys of all objects.
fn keys(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(members) => {
            let below = members.values().flat_map(keys);
            members.keys().cloned().chain(below).collect()
        }
        serde_json::Value::Array(values) => values.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn json_is_one_document() {
    let text = shown(&CountForm::Json);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["format"], "oxperf-stat-diff");
    assert_eq!(document["a"]["runs"], 3);
    let counts = document["counts"].as_array().unwrap();
    assert_eq!(counts[0]["change"]["verdict"], "more-than-chance");
    assert!(counts[0]["change"]["degrees_of_freedom"].as_f64().unwrap() < 4.0);
    assert_eq!(counts[2]["b"], serde_json::Value::Null);
    assert_eq!(counts[3]["a"]["reason"], "there is no counter");
    assert_eq!(counts[4]["event"], "elapsed");
    assert_eq!(counts[4]["change"]["verdict"], "chance");
}
