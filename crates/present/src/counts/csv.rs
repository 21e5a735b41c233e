//! Rows as fields between separators.

use oxperf_analysis::counts::CountGroup;

use super::{Cells, CountMoment, group};
use crate::text::{put, sanitize};

pub(super) fn row(out: &mut Vec<u8>, cells: Cells<'_>, separator: &str) {
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
    match cells.value() {
        Ok(value) => field(&format!("{value:.*}", cells.decimals())),
        Err(words) => field(words),
    }
    field(&sanitize(&cells.event.unit));
    field(&sanitize(&cells.event.name));
    if let Some(cgroup) = &cells.event.cgroup {
        field(&sanitize(cgroup));
    }
    if cells.style.is_repeated {
        field(&format!("{:.2}%", cells.row.total.relative_error));
    }
    field(&cells.row.total.running.to_string());
    field(&format!("{}.00", cells.whole_running_share()));
    // The value of what is computed from the count, and its unit.
    field("");
}
