//! Rows as fields between separators.

use oxperf_analysis::counts::{CountGroup, MetricCell};

use super::{Cells, CountMoment, LastHeading, group, metrics};
use crate::text::{put, sanitize};

/// Fields of a count, in front of what is computed from it.
const COUNT_FIELDS: usize = 4;

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str, last: &mut LastHeading) {
    push_beginning(out, cells, separator);
    if cells.is_without_count() {
        return push_sections(out, cells, separator, last);
    }
    let mut field = |text: &str| put!(out, "{text}{separator}");
    match cells.value() {
        Ok(value) => field(&format!("{value:.*}", cells.decimals())),
        Err(words) => field(words),
    }
    field(&sanitize(&cells.event.unit));
    put!(out, "{}", sanitize(&cells.event.name));
    if let Some(cgroup) = &cells.event.cgroup {
        put!(out, "{separator}{}", sanitize(cgroup));
    }
    push_shares(out, cells, separator);
    push_metrics(out, cells, separator, cells.metrics);
}

/// The moment and the group.
pub(super) fn push_beginning(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str) {
    let mut field = |text: &str| put!(out, "{text}{separator}");
    match cells.page.moment {
        CountMoment::Whole => {}
        CountMoment::Interval(moment) => {
            field(&format!(
                "{}.{:09}",
                moment.as_secs(),
                moment.subsec_nanos()
            ));
        }
        CountMoment::Summary => field("summary"),
    }
    if let Some(label) = group::label(cells) {
        match cells.row.group {
            CountGroup::Cpu(_) => field(&format!("CPU{}", label.name)),
            _ => field(&label.name),
        }
        if label.has_counters {
            field(&cells.row.total.counters.to_string());
        }
    }
}

/// The deviation over runs, and the time in which the event counted.
fn push_shares(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str) {
    if cells.style.is_repeated {
        put!(out, "{separator}{:.2}%", cells.row.total.relative_error);
    }
    let (running, share) = (cells.row.total.running, cells.whole_running_share());
    put!(out, "{separator}{running}{separator}{share}.00");
}

/// The metrics below their headings, in place of a count.
fn push_sections(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str, last: &mut LastHeading) {
    let fields = count_fields(cells);
    for (index, section) in cells.sections(last).into_iter().enumerate() {
        if index > 0 {
            out.push(b'\n');
            push_beginning(out, cells, separator);
        }
        push_shares(out, cells, separator);
        match section.heading {
            Some(heading) => {
                put!(out, "{}{}", separator.repeat(fields), sanitize(&heading));
                push_line(out, cells, separator);
            }
            // Time and share stand in two of them.
            None => put!(out, "{}", separator.repeat(fields - 2)),
        }
        push_metrics(out, cells, separator, section.cells);
    }
}

/// Metrics, each after the first on a line of its own: value, unit and name.
fn push_metrics(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str, metrics: &[MetricCell<'_>]) {
    if metrics.is_empty() {
        put!(out, "{separator}{separator}");
    }
    for (index, metric) in metrics.iter().enumerate() {
        if index > 0 {
            push_line(out, cells, separator);
        }
        let label = sanitize(metric.label);
        put!(out, "{separator}{}{separator}{label}", number(metric));
    }
}

/// A value; nothing where there is none.
pub(super) fn number(metric: &MetricCell<'_>) -> String {
    match metric.value.is_nan() {
        true => String::new(),
        false => metrics::number(metric),
    }
}

/// A further line, with the fields of a count left empty.
fn push_line(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str) {
    out.push(b'\n');
    push_beginning(out, cells, separator);
    put!(out, "{}", separator.repeat(count_fields(cells)));
}

fn count_fields(cells: Cells<'_>) -> usize {
    COUNT_FIELDS + usize::from(cells.event.cgroup.is_some())
}
