//! Rows as JSON objects, a line each.

use oxperf_analysis::counts::MetricCell;

use super::{Cells, CountMoment, LastHeading, group, metrics};
use crate::json::string;
use crate::text::put;

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>, last: &mut LastHeading) {
    let mut object = Object::begin(out, cells);
    if cells.is_without_count() {
        push_sections(object, cells, last);
        return;
    }
    match cells.value() {
        Ok(value) => object.text("counter-value", &format!("{value:.6}")),
        Err(words) => object.text("counter-value", words),
    }
    object.text("unit", &cells.event.unit);
    object.text("event", &cells.event.name);
    if let Some(cgroup) = &cells.event.cgroup {
        object.text("cgroup", cgroup);
    }
    push_shares(&mut object, cells);
    push_metrics(object, cells, cells.metrics).end();
}

/// The deviation over runs, and the time in which the event counted.
fn push_shares(object: &mut Object<'_>, cells: Cells<'_>) {
    let total = cells.row.total;
    if cells.style.is_repeated {
        object.value("variance", &format!("{:.2}", total.relative_error));
    }
    object.value("event-runtime", &total.running.to_string());
    object.value(
        "pcnt-running",
        &format!("{}.00", cells.whole_running_share()),
    );
}

/// The metrics below their headings, in place of a count.
fn push_sections(mut object: Object<'_>, cells: Cells<'_>, last: &mut LastHeading) {
    for (index, section) in cells.sections(last).into_iter().enumerate() {
        if index > 0 {
            object = object.next(cells);
        }
        push_shares(&mut object, cells);
        if let Some(heading) = section.heading {
            object.text("metricgroup", &heading);
            object = object.next(cells);
        }
        object = push_metrics(object, cells, section.cells);
    }
    object.end();
}

/// Metrics, each after the first in an object of its own.
fn push_metrics<'a>(
    mut object: Object<'a>,
    cells: Cells<'_>,
    metrics: &[MetricCell<'_>],
) -> Object<'a> {
    for (index, metric) in metrics.iter().enumerate() {
        if index > 0 {
            object = object.next(cells);
        }
        let value = match metric.value.is_nan() {
            true => metrics::NO_VALUE.to_owned(),
            false => format!("{:.6}", metric.value),
        };
        object.text("metric-value", &value);
        object.text("metric-unit", metric.label);
        if let Some(verdict) = metrics::verdict(metric) {
            object.text("metric-threshold", verdict);
        }
    }
    object
}

/// An object of a line that is being written.
pub(super) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    /// Begins an object with the moment and the group.
    pub(super) fn begin(out: &'a mut Vec<u8>, cells: Cells<'_>) -> Object<'a> {
        out.push(b'{');
        let mut object = Object {
            out,
            is_empty: true,
        };
        if let CountMoment::Interval(moment) = cells.page.moment {
            let seconds = format!("{}.{:09}", moment.as_secs(), moment.subsec_nanos());
            object.value("interval", &seconds);
        }
        if let Some(label) = group::label(cells) {
            object.text(label.key, &label.name);
            if label.has_counters {
                object.value("counters", &cells.row.total.counters.to_string());
            }
        }
        object
    }

    /// Ends it and begins the next on a line of its own.
    fn next(self, cells: Cells<'_>) -> Object<'a> {
        let out = self.end();
        out.push(b'\n');
        Object::begin(out, cells)
    }

    pub(super) fn end(self) -> &'a mut Vec<u8> {
        self.out.push(b'}');
        self.out
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.is_empty) {
            put!(self.out, ", ");
        }
        put!(self.out, "\"{key}\" : ");
    }

    /// A member whose value is no text.
    fn value(&mut self, key: &str, value: &str) {
        self.key(key);
        put!(self.out, "{value}");
    }

    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        string::write(text, self.out);
    }
}
