//! A comparison as fields between separators, below a line of headings.

use oxperf_analysis::counts::{ComparedCount, MeasuredSide};

use super::{ComparisonPage, missing, probability, verdict};
use crate::counts::document::shown;
use crate::text::{put, sanitize};

const HEADINGS: [&str; 13] = [
    "event",
    "cgroup",
    "unit",
    "mean_a",
    "error_a",
    "runs_a",
    "mean_b",
    "error_b",
    "runs_b",
    "difference",
    "percent",
    "probability",
    "verdict",
];

pub(super) fn lines(out: &mut Vec<u8>, page: &ComparisonPage<'_>, separator: &str) {
    put!(out, "{}\n", HEADINGS.join(separator));
    for count in &page.comparison.counts {
        put!(out, "{}\n", fields(count).join(separator));
    }
}

fn fields(count: &ComparedCount) -> Vec<String> {
    let mut fields = vec![
        sanitize(&count.name).into_owned(),
        sanitize(count.cgroup.as_deref().unwrap_or_default()).into_owned(),
        sanitize(&count.unit).into_owned(),
    ];
    fields.extend(side(count.before.as_ref()));
    fields.extend(side(count.after.as_ref()));
    let change = count.change.as_ref();
    fields.extend([
        number(change.map(|change| change.difference)),
        number(change.and_then(|change| change.percent)),
        number(change.and_then(|change| probability(change.test))),
        change.map_or_else(String::new, |change| verdict(change.test).to_owned()),
    ]);
    fields
}

fn side(side: Option<&MeasuredSide>) -> [String; 3] {
    let (mean, error) = side.map_or((None, None), |side| shown(&side.statistics));
    [
        missing(side).map_or_else(|| number(mean), str::to_owned),
        number(error),
        side.map_or(0, |side| side.statistics.number()).to_string(),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
