//! The records of `perf stat record` and `perf sched stats record`.

use crate::text::put;
use oxperf_wire::user::{SchedstatCpu, SchedstatDomain, Stat, StatConfig, StatRound};

/// Appends the settings.
pub(super) fn config(record: &StatConfig<'_>, out: &mut Vec<u8>) {
    let value = |tag| record.setting(tag).unwrap_or_default();
    out.push(b'\n');
    put!(out, "... aggr_mode {}\n", value(StatConfig::AGGREGATION));
    put!(out, "... scale     {}\n", value(StatConfig::SCALE));
    put!(out, "... interval  {}\n", value(StatConfig::INTERVAL));
}

/// Appends the values of a counter.
pub(super) fn counts(record: &Stat, out: &mut Vec<u8>) {
    let Stat {
        id,
        cpu,
        thread,
        value,
        enabled,
        running,
    } = record;
    put!(
        out,
        "\n... id {id}, cpu {}, thread {thread}\n",
        cpu.cast_signed()
    );
    put!(
        out,
        "... value {value}, enabled {enabled}, running {running}\n"
    );
}

/// Appends the end of a round.
pub(super) fn round(record: &StatRound, out: &mut Vec<u8>) {
    let kind = if record.kind == 1 {
        "FINAL"
    } else {
        "INTERVAL"
    };
    put!(out, "\n... time {}, type {kind}\n", record.time);
}

/// Appends the counters of a CPU; the line goes on.
pub(super) fn schedstat_cpu(record: &SchedstatCpu, out: &mut Vec<u8>) {
    put!(out, "\ncpu{} ", record.cpu);
    record
        .counters
        .iter()
        .for_each(|counter| put!(out, "{counter} "));
}

/// Appends the counters of a domain; the line goes on.
pub(super) fn schedstat_domain(record: &SchedstatDomain, out: &mut Vec<u8>) {
    put!(out, "\ndomain{} ", record.domain);
    record
        .counters
        .iter()
        .for_each(|counter| put!(out, "{counter} "));
}
