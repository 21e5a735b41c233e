//! The lines of the log about clocks.

use std::io::Write;

use intel_pt::{Config, Measured, Tsc};
use oxperf_abi::PerfTime;

use super::line;
use crate::TscClock;

/// A TSC packet may come late by so many ticks.
const SLIP: u32 = 0x10000;

/// Appends the stretches of time that are asked for, in the time of records and of the trace; 0 for one without end.
pub(super) fn write_ranges(
    times: &[(PerfTime, PerfTime)],
    clock: Option<TscClock>,
    out: &mut Vec<u8>,
) {
    let Some(clock) = clock.filter(|_| !times.is_empty()) else {
        return;
    };
    line!(out, "intel_pt_setup_time_ranges: {} range(s)", times.len());
    for (number, &(first, last)) in times.iter().enumerate() {
        let end = if last.0 == u64::MAX { 0 } else { last.0 };
        line!(
            out,
            "range {number}: perf time interval: {} to {end}",
            first.0
        );
        let [start, end] = [first_tick(clock, first), last_tick(clock, last)];
        let hex = |tick: u64| {
            if tick == 0 {
                "0".to_owned()
            } else {
                format!("{tick:#x}")
            }
        };
        line!(
            out,
            "range {number}: TSC time interval: {} to {}",
            hex(start),
            hex(end)
        );
    }
}

/// The first tick that is not before a time; 0 for the beginning.
fn first_tick(clock: TscClock, time: PerfTime) -> u64 {
    let near = clock.tsc(time);
    match time.0 {
        0 => 0,
        _ if clock.time(near) < time => near + 1,
        _ => near,
    }
}

/// The last tick that is not behind a time; 0 for no end.
fn last_tick(clock: TscClock, time: PerfTime) -> u64 {
    if matches!(time.0, 0 | u64::MAX) {
        return 0;
    }
    let near = clock.tsc(time);
    let next = (near..near.saturating_add(16)).take_while(|tick| clock.time(*tick) <= time);
    next.last().unwrap_or(near)
}

/// Appends the clocks that a decoder begins with.
pub(super) fn write_config(config: &Config, out: &mut Vec<u8>) {
    line!(out, "timestamp: mtc_shift {}", config.mtc_shift);
    let (numerator, denominator) = config
        .tsc_to_crystal
        .map_or((0, 0), |ratio| (ratio.numerator, ratio.denominator));
    line!(out, "timestamp: tsc_ctc_ratio_n {numerator}");
    line!(out, "timestamp: tsc_ctc_ratio_d {denominator}");
    let whole = numerator.checked_rem(denominator) == Some(0);
    line!(
        out,
        "timestamp: tsc_ctc_mult {}",
        if whole { numerator / denominator } else { 0 }
    );
    line!(out, "timestamp: tsc_slip {SLIP:#x}");
}

/// Appends the times of a TMA packet.
pub(super) fn write_tie(time: Tsc, mtc: u8, rest: u64, out: &mut Vec<u8>) {
    line!(
        out,
        "CTC timestamp {:#x} last MTC {}  CTC rem {}",
        time.0,
        prefixed(u64::from(mtc)),
        prefixed(rest)
    );
}

/// Appends the ticks of a cycle.
pub(super) fn write_measured(measured: &Measured, out: &mut Vec<u8>) {
    let (ticks, end) = (short(measured.ticks), measured.end);
    let head = format!("Timestamp: calculated {ticks} TSC ticks per cycle");
    match measured.nominal.map(short) {
        Some(nominal) if measured.believed => {
            line!(out, "{head} c.f. CBR-based value {nominal}, pos {end:#x}");
        }
        Some(nominal) => line!(
            out,
            "{head} too big (c.f. CBR-based value {nominal}), pos {end:#x}"
        ),
        None => line!(out, "{head} c.f. unknown CBR-based value, pos {end:#x}"),
    }
}

/// Hexadecimal; 0 has no prefix.
fn prefixed(value: u64) -> String {
    if value == 0 {
        "0".to_owned()
    } else {
        format!("{value:#x}")
    }
}

/// Six digits that count, without zeros at the end.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let text = format!("{value:.*}", usize::try_from(6 - before).unwrap_or(0));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_count() {
        let texts = [0.0, 0.8, 0.888_888_888, 12.345_678_9, 2.0, 1_234_567.0].map(short);
        assert_eq!(texts, ["0", "0.8", "0.888889", "12.3457", "2", "1234567"]);
    }
}
