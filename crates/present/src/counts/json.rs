//! Rows as JSON objects, a line each.

use super::{Cells, CountMoment, group};
use crate::json::string;
use crate::text::put;

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>) {
    out.push(b'{');
    if let CountMoment::Interval(moment) = cells.page.moment {
        put!(
            out,
            "\"interval\" : {}.{:09}, ",
            moment.as_secs(),
            moment.subsec_nanos()
        );
    }
    if let Some(label) = group::label(cells) {
        put_text(out, label.key, &label.name);
        if label.has_counters {
            put!(out, "\"counters\" : {}, ", cells.row.total.counters);
        }
    }
    match cells.value() {
        Ok(value) => put_text(out, "counter-value", &format!("{value:.6}")),
        Err(words) => put_text(out, "counter-value", words),
    }
    put_text(out, "unit", &cells.event.unit);
    put_text(out, "event", &cells.event.name);
    if let Some(cgroup) = &cells.event.cgroup {
        put_text(out, "cgroup", cgroup);
    }
    if cells.style.is_repeated {
        put!(
            out,
            "\"variance\" : {:.2}, ",
            cells.row.total.relative_error
        );
    }
    let (running, share) = (cells.row.total.running, cells.whole_running_share());
    put!(
        out,
        "\"event-runtime\" : {running}, \"pcnt-running\" : {share}.00}}"
    );
}

fn put_text(out: &mut Vec<u8>, key: &str, text: &str) {
    put!(out, "\"{key}\" : ");
    string::write(text, out);
    put!(out, ", ");
}
