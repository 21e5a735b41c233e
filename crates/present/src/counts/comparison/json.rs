//! A comparison as one JSON document.

use oxperf_analysis::counts::{ComparedCount, CountChange, MeanTest, MeasuredRuns, MeasuredSide};

use super::{ComparisonPage, probability, verdict};
use crate::counts::document::{put, put_float, shown};
use crate::json::object::{Object, array, null, number, object};

/// The name of the form.
const FORMAT: &str = "oxperf-stat-diff";
/// The version of the form: it changes when a key changes its meaning or goes.
const VERSION: u64 = 1;

pub(super) fn document(out: &mut Vec<u8>, page: &ComparisonPage<'_>) {
    object(out, |document| {
        document.text("format", FORMAT);
        document.number("version", VERSION);
        document.key("a", |out| measurement(out, page.before_name, page.before));
        document.key("b", |out| measurement(out, page.after_name, page.after));
        document.key("counts", |out| {
            array(out, &page.comparison.counts, |out, count| {
                out.push(b'\n');
                object(out, |object| line(object, count));
            });
        });
    });
    out.push(b'\n');
}

fn measurement(out: &mut Vec<u8>, name: &str, runs: &MeasuredRuns) {
    object(out, |object| {
        object.text("name", name);
        object.text("subject", &runs.origin.subject);
        object.number("runs", runs.runs.len());
    });
}

fn line(object: &mut Object<'_>, count: &ComparedCount) {
    object.text("event", &count.name);
    object.optional("pmu", count.pmu.as_deref());
    object.optional("cgroup", count.cgroup.as_deref());
    object.text("unit", &count.unit);
    object.key("a", |out| side(out, count.before.as_ref()));
    object.key("b", |out| side(out, count.after.as_ref()));
    object.key("change", |out| change(out, count.change.as_ref()));
}

fn side(out: &mut Vec<u8>, side: Option<&MeasuredSide>) {
    let Some(side) = side else {
        return null(out);
    };
    let (mean, error) = shown(&side.statistics);
    object(out, |object| {
        object.key("supported", |out| number(out, side.is_supported));
        object.optional("reason", side.reason.as_deref());
        put(object, "runs", Some(side.statistics.number()));
        put_float(object, "mean", mean);
        put_float(object, "standard_error", error);
    });
}

fn change(out: &mut Vec<u8>, change: Option<&CountChange>) {
    let Some(change) = change else {
        return null(out);
    };
    let freedom = match change.test {
        MeanTest::Welch {
            degrees_of_freedom, ..
        } => Some(degrees_of_freedom),
        MeanTest::TooFewRuns | MeanTest::NoSpread { .. } => None,
    };
    object(out, |object| {
        put_float(object, "difference", Some(change.difference));
        put_float(object, "percent", change.percent);
        put_float(object, "degrees_of_freedom", freedom);
        put_float(object, "probability", probability(change.test));
        object.text("verdict", verdict(change.test));
    });
}
