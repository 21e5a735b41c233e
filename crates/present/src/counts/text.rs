//! Rows as a table for people.

use std::borrow::Cow;

use oxperf_analysis::counts::{CountGroup, CountGrouping, MetricCell};
use oxperf_metric::ThresholdVerdict;

use super::group::{self, row_column};
use super::{Cells, CountMoment, LastHeading, metrics};
use crate::text::number::{pad, push_number};
use crate::text::padding::{push_left, push_right};
use crate::text::{put, sanitize};

/// The width of values.
pub(super) const VALUE_WIDTH: usize = 18;
/// The width of names.
const NAME_WIDTH: usize = 32;
/// The width of the names of control groups.
pub(super) const CGROUP_WIDTH: usize = 16;
/// The width of what is computed from a count.
const METRIC_WIDTH: usize = 38;
/// The width of a number that is computed.
const NUMBER_WIDTH: usize = 8;
/// The width of a heading above metrics.
const HEADING_WIDTH: usize = 20;
/// The columns in front of what is computed: those of value, unit and name.
const COUNT_WIDTH: usize = 56;
/// Columns more where every CPU stands by itself.
const CPU_INDENT: usize = 8;
/// Ends a colour.
const RESET: &str = "\x1b[m";
/// The width of the number of counters.
pub(super) const COUNTERS_WIDTH: usize = 4;

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>, last: &mut LastHeading) {
    push_beginning(out, cells);
    if cells.is_without_count() {
        return push_sections(out, cells, last);
    }
    push_value(out, cells);
    push_name(out, cells);
    push_metrics(out, cells, cells.metrics);
    push_shares(out, cells);
}

/// The moment and the group.
pub(super) fn push_beginning(out: &mut Vec<u8>, cells: Cells<'_>) {
    if let CountMoment::Interval(moment) = cells.page.moment {
        push_number(out, moment.as_secs(), 6, b' ');
        out.push(b'.');
        push_number(out, moment.subsec_nanos().into(), 9, b'0');
        out.push(b' ');
    }
    push_group(out, cells);
}

/// The metrics below their headings, in place of a count.
fn push_sections(out: &mut Vec<u8>, cells: Cells<'_>, last: &mut LastHeading) {
    for (index, section) in cells.sections(last).into_iter().enumerate() {
        if index > 0 {
            out.push(b'\n');
            push_beginning(out, cells);
        }
        match section.heading {
            Some(heading) => put!(out, " {:>HEADING_WIDTH$}", sanitize(&heading)),
            None => put!(out, "{:COUNT_WIDTH$}", ""),
        }
        push_metrics(out, cells, section.cells);
        push_shares(out, cells);
    }
}

/// Metrics, each after the first on a line of its own.
fn push_metrics(out: &mut Vec<u8>, cells: Cells<'_>, metrics: &[MetricCell<'_>]) {
    if metrics.is_empty() {
        pad(out, METRIC_WIDTH);
    }
    for (index, metric) in metrics.iter().enumerate() {
        if index > 0 {
            out.push(b'\n');
            push_beginning(out, cells);
            if cells.style.grouping == CountGrouping::Cpu {
                put!(out, "{:CPU_INDENT$}", "");
            }
            put!(out, "{:COUNT_WIDTH$}", "");
        }
        push_metric(out, cells, metric);
    }
}

fn push_metric(out: &mut Vec<u8>, cells: Cells<'_>, metric: &MetricCell<'_>) {
    let number = format!("{:>NUMBER_WIDTH$}", metrics::number(metric));
    let rest = METRIC_WIDTH.saturating_sub(" # ".len() + number.chars().count() + " ".len());
    put!(out, " # ");
    push_coloured(out, cells, metric, &number);
    put!(out, " {:rest$}", sanitize(metric.label));
}

/// A number in the colour of what the metric's threshold says.
pub(super) fn push_coloured(
    out: &mut Vec<u8>,
    cells: Cells<'_>,
    metric: &MetricCell<'_>,
    number: &str,
) {
    match colour(metric).filter(|_| cells.style.is_coloured) {
        Some(colour) => put!(out, "{colour}{number}{RESET}"),
        None => put!(out, "{number}"),
    }
}

/// The deviation over runs, and the share of the time in which the event counted.
fn push_shares(out: &mut Vec<u8>, cells: Cells<'_>) {
    let error = cells.row.total.relative_error;
    if cells.style.is_repeated && error != 0.0 {
        put!(out, "  ( +-{error:6.2}% )");
    }
    let total = cells.row.total;
    if total.running != total.enabled {
        put!(out, "  ({:.2}%)", cells.running_share());
    }
}

/// The colour of what a threshold says.
fn colour(metric: &MetricCell<'_>) -> Option<&'static str> {
    match metric.verdict? {
        ThresholdVerdict::Good => Some("\x1b[32m"),
        ThresholdVerdict::Bad => Some("\x1b[31m"),
        ThresholdVerdict::Unknown => None,
    }
}

fn push_group(out: &mut Vec<u8>, cells: Cells<'_>) {
    let (Some(label), Some(column)) = (group::label(cells), row_column(cells)) else {
        return;
    };
    let width = column.width;
    match cells.row.group {
        CountGroup::Thread(index) => {
            let thread = cells.page.threads.get(index);
            let name = group::thread_name(thread, |comm, tid| format!("{comm:>16}-{tid:<7}"));
            put!(out, "{name} ");
        }
        CountGroup::Cpu(_) => put!(out, "{:width$} ", format!("CPU{}", label.name)),
        _ => put!(out, "{:width$} ", label.name),
    }
    if label.has_counters {
        put!(out, "{:COUNTERS_WIDTH$} ", cells.row.total.counters);
    }
}

fn push_value(out: &mut Vec<u8>, cells: Cells<'_>) {
    let value = match cells.value() {
        Ok(value) => {
            let digits = digits(value, cells.decimals());
            Cow::Owned(grouped(digits, &cells.style.digit_separator))
        }
        Err(words) => Cow::Borrowed(words),
    };
    let unit = sanitize(&cells.event.unit);
    push_right(out, &value, VALUE_WIDTH);
    out.push(b' ');
    push_left(out, &unit, cells.style.unit_width);
    out.push(b' ');
}

fn push_name(out: &mut Vec<u8>, cells: Cells<'_>) {
    push_left(out, &sanitize(&cells.event.name), NAME_WIDTH);
    if let Some(cgroup) = &cells.event.cgroup {
        out.push(b' ');
        push_left(out, &sanitize(cgroup), CGROUP_WIDTH);
    }
}

/// A number with so many digits after the point. Whole numbers, which most counts are, take the short way.
pub(super) fn digits(value: f64, decimals: usize) -> String {
    let whole = value as u64;
    let is_exact = whole as f64 == value && whole < u64::MAX;
    if decimals == 0 && is_exact && value.is_sign_positive() {
        return whole.to_string();
    }
    format!("{value:.decimals$}")
}

/// The digits before the point in groups of three.
pub(super) fn grouped(number: String, separator: &str) -> String {
    if separator.is_empty() {
        return number;
    }
    let (whole, fraction) = match number.find('.') {
        Some(point) => number.split_at(point),
        None => (number.as_str(), ""),
    };
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len() - index;
        if index > 0 && left % 3 == 0 && !out.ends_with('-') {
            out.push_str(separator);
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::digits;

    fn grouped(number: &str, separator: &str) -> String {
        super::grouped(number.to_owned(), separator)
    }

    #[test]
    fn whole_numbers_are_written_as_all_others() {
        for value in [0.0, -0.0, 1.0, 1e15, 1.8e19, 1e20, 2.5, 0.4, -3.0, f64::NAN] {
            assert_eq!(digits(value, 0), format!("{value:.0}"), "{value}");
        }
        assert_eq!(digits(3.0, 2), "3.00");
    }

    #[test]
    fn digits_in_groups() {
        assert_eq!(grouped("1234567.89", ","), "1,234,567.89");
        assert_eq!(grouped("123", ","), "123");
        assert_eq!(grouped("-123456", "."), "-123.456");
        assert_eq!(grouped("1234", ""), "1234");
    }
}
