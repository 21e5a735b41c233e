//! What a recorder asked of the kernel, in a form that two of them have in common.

use std::collections::BTreeSet;

use super::super::stat;
use super::said::without_recorder;

/// The bits of the events by which perf itself learns of BPF programs, in rings that no recording takes.
const OF_PERF: &str = " bits: watermark sample_id_all bpf_event; ";
/// The registers by which perf finds out which ones samples can hold.
const PROBED: &str = " regs_intr=0xffffffff00000000 ";
/// What perf opens to find out whether the kernel lets it: events without samples.
const TRIED: &str = " sample=- read=- ";
/// The PMU of traces.
const TRACE: &str = " intel_pt ";
/// The beginning of a line about traces that are switched on or off.
const SWITCH_OF_TRACE: &str = "ioctl trace ";

/// The log without what perf asks for itself.
pub(super) fn comparable(log: &str) -> String {
    let own = numbers(log, |line| {
        [OF_PERF, PROBED, TRIED]
            .iter()
            .any(|part| line.contains(part))
    });
    let is_recorded = |line: &str| number(line).is_none_or(|event| !own.contains(event));
    let kept = log.lines().filter(|line| is_recorded(line));
    let traces = numbers(log, |line| line.contains(TRACE));
    let mut text = String::new();
    let mut before = String::new();
    for line in kept.map(|line| switch_of_trace(line, &traces)) {
        // How often a trace is read, and on which CPU there is one, is a matter of chance.
        if line != before || !line.starts_with(SWITCH_OF_TRACE) {
            text += &without_recorder(&line);
            text.push('\n');
        }
        before = line;
    }
    stat::asked::comparable(&text)
}

/// The number of the event that a line is about.
fn number(line: &str) -> Option<&str> {
    line.split(' ').nth(1)
}

/// The numbers of the events whose opening is as wanted.
fn numbers(log: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<&str> {
    let opened = log.lines().filter(|line| line.starts_with("open "));
    opened
        .filter(|line| is_wanted(line))
        .filter_map(number)
        .collect()
}

/// The line, without the number of a trace that is switched on or off: all of them are, or those that were read.
fn switch_of_trace(line: &str, traces: &BTreeSet<&str>) -> String {
    let switched = line.strip_prefix("ioctl ").and_then(|rest| {
        let (event, rest) = rest.split_once(' ')?;
        let is_switch = rest.starts_with("ENABLE") || rest.starts_with("DISABLE");
        (is_switch && traces.contains(event)).then(|| format!("{SWITCH_OF_TRACE}{rest}"))
    });
    switched.unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn what_perf_asks_for_itself_is_left_out() {
        let log = "open #1 software bits: watermark sample_id_all bpf_event; pid=-1\nioctl #1 ENABLE\n\
                   open #2 cpu bits: disabled; pid=-1\n";
        assert_eq!(comparable(log), "open #1 cpu bits: disabled; pid=-1\n");
    }

    #[test]
    fn traces_are_switched_as_often_as_they_are_read() {
        let log = "open #1 intel_pt bits: x; cpu=0\nopen #2 intel_pt bits: x; cpu=1\nopen #3 software bits: x; cpu=0\n\
                   ioctl #2 ENABLE -> ok\nioctl #1 ENABLE -> ok\nioctl #3 ENABLE -> ok\n";
        assert!(comparable(log).ends_with("ioctl trace ENABLE -> ok\nioctl #3 ENABLE -> ok\n"));
    }
}
