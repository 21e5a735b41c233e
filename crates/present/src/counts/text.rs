//! Rows as a table for people.

use oxperf_analysis::counts::CountGroup;

use super::group::{self, column};
use super::{Cells, CountMoment};
use crate::text::{put, sanitize};

/// The width of values.
pub(super) const VALUE_WIDTH: usize = 18;
/// The width of names.
const NAME_WIDTH: usize = 32;
/// The width of the names of control groups.
const CGROUP_WIDTH: usize = 16;
/// The width of what is computed from a count.
const METRIC_WIDTH: usize = 38;
/// The width of the number of counters.
pub(super) const COUNTERS_WIDTH: usize = 4;

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>) {
    if let CountMoment::Interval(moment) = cells.page.moment {
        put!(out, "{:6}.{:09} ", moment.as_secs(), moment.subsec_nanos());
    }
    push_group(out, cells);
    push_value(out, cells);
    push_name(out, cells);
    put!(out, "{:METRIC_WIDTH$}", "");
    let error = cells.row.total.relative_error;
    if cells.style.is_repeated && error != 0.0 {
        put!(out, "  ( +-{error:6.2}% )");
    }
    let total = cells.row.total;
    if total.running != total.enabled {
        put!(out, "  ({:.2}%)", cells.running_share());
    }
}

fn push_group(out: &mut Vec<u8>, cells: Cells<'_>) {
    let (Some(label), Some(column)) = (group::label(cells), column(cells.style.grouping)) else {
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
            let digits = format!("{value:.*}", cells.decimals());
            grouped(&digits, &cells.style.digit_separator)
        }
        Err(words) => words.to_owned(),
    };
    let unit_width = cells.style.unit_width;
    put!(
        out,
        "{value:>VALUE_WIDTH$} {:unit_width$} ",
        sanitize(&cells.event.unit)
    );
}

fn push_name(out: &mut Vec<u8>, cells: Cells<'_>) {
    put!(out, "{:NAME_WIDTH$}", sanitize(&cells.event.name));
    if let Some(cgroup) = &cells.event.cgroup {
        put!(out, " {:CGROUP_WIDTH$}", sanitize(cgroup));
    }
}

/// The digits before the point in groups of three.
pub(super) fn grouped(number: &str, separator: &str) -> String {
    if separator.is_empty() {
        return number.to_owned();
    }
    let (whole, fraction) = match number.find('.') {
        Some(point) => number.split_at(point),
        None => (number, ""),
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
    use super::grouped;

    #[test]
    fn digits_in_groups() {
        assert_eq!(grouped("1234567.89", ","), "1,234,567.89");
        assert_eq!(grouped("123", ","), "123");
        assert_eq!(grouped("-123456", "."), "-123.456");
        assert_eq!(grouped("1234", ""), "1234");
    }
}
