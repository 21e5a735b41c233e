//! What a recorder asked of the kernel, in a form that two of them have in common.

use std::collections::BTreeSet;

use super::super::stat;
use super::said::without_recorder;

/// The bits of the events by which perf itself learns of BPF programs, in rings that no recording takes.
const OF_PERF: &str = " bits: watermark sample_id_all bpf_event; ";
/// The registers by which perf finds out which ones samples can hold.
const PROBED: &str = " regs_intr=0xffffffff00000000 ";

/// The log without what perf asks for itself.
pub(super) fn comparable(log: &str) -> String {
    let number = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    let own: BTreeSet<String> = log
        .lines()
        .filter(|line| line.starts_with("open "))
        .filter(|line| line.contains(OF_PERF) || line.contains(PROBED))
        .filter_map(number)
        .collect();
    let is_recorded = |line: &str| number(line).is_none_or(|event| !own.contains(&event));
    let kept = log.lines().filter(|line| is_recorded(line));
    let kept: String = kept.map(|line| without_recorder(line) + "\n").collect();
    stat::asked::comparable(&kept)
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
}
