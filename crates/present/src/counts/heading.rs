//! The lines above a table of counts.

use super::group::column;
use super::text::{COUNTERS_WIDTH, VALUE_WIDTH};
use super::{CountForm, CountStyle};
use crate::text::{put, sanitize};
use oxperf_analysis::counts::CountGrouping;

/// What was counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CountSubject {
    /// Everything on all CPUs.
    System,
    /// Everything on CPUs, as the user listed them.
    Cpus(String),
    /// Processes, as the user listed them.
    Processes(String),
    /// Threads, as the user listed them.
    Threads(String),
    /// A program with its arguments.
    Command(Vec<String>),
}

impl CountSubject {
    /// The target in words.
    pub fn words(&self) -> String {
        match self {
            CountSubject::System => "'system wide'".to_owned(),
            CountSubject::Cpus(list) => format!("'CPU(s) {list}'"),
            CountSubject::Processes(list) => format!("process id '{list}'"),
            CountSubject::Threads(list) => format!("thread id '{list}'"),
            CountSubject::Command(words) => format!("'{}'", words.join(" ")),
        }
    }
}

/// Appends the lines above the table of a whole run.
pub fn heading(out: &mut Vec<u8>, subject: &CountSubject, runs: u64) {
    put!(
        out,
        "\n Performance counter stats for {}",
        sanitize(&subject.words())
    );
    if runs > 1 {
        put!(out, " ({runs} runs)");
    }
    put!(out, ":\n\n");
}

/// Appends the names of the columns above rows of intervals; only a table has them.
pub fn interval_heading(out: &mut Vec<u8>, style: &CountStyle) {
    if style.form != CountForm::Text {
        return;
    }
    interval_groups(out, style);
    let unit_width = style.unit_width;
    put!(
        out,
        "{:>VALUE_WIDTH$} {:unit_width$} events\n",
        "counts",
        "unit"
    );
}

/// The moment and the group in front of the names of columns.
pub(super) fn interval_groups(out: &mut Vec<u8>, style: &CountStyle) {
    put!(out, "#           time ");
    if let Some(column) = column(style.grouping) {
        let width = column.width;
        match style.grouping {
            CountGrouping::Thread => put!(out, "{:>16}-{:<7} ", "comm", "pid"),
            _ => put!(out, "{:width$} ", column.key),
        }
        if style.grouping.is_by_place() {
            put!(out, "{:>COUNTERS_WIDTH$} ", "ctrs");
        }
    }
}
