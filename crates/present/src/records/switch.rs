//! SWITCH and SWITCH_CPU_WIDE: a thread leaves a CPU or comes back.

use oxperf_abi::Misc;
use oxperf_wire::kernel::SwitchCpuWide;

use crate::text::put;

/// Appends the line of a SWITCH record, which is all in its header.
pub(super) fn switch(out: &mut Vec<u8>, misc: Misc) {
    put!(out, "PERF_RECORD_SWITCH {}\n", direction(misc),);
}

/// Appends the line of a SWITCH_CPU_WIDE record: where to, or where from.
pub(super) fn switch_cpu_wide(out: &mut Vec<u8>, misc: Misc, record: &SwitchCpuWide) {
    let other = if misc.has(Misc::SWITCH_OUT) {
        "next"
    } else {
        "prev"
    };
    let (pid, tid) = (record.next_prev_pid.0, record.next_prev_tid.0);
    let direction = direction(misc);
    put!(
        out,
        "PERF_RECORD_SWITCH_CPU_WIDE {direction}  {other} pid/tid: {pid:5}/{tid:<5}\n"
    );
}

fn direction(misc: Misc) -> &'static str {
    match (
        misc.has(Misc::SWITCH_OUT),
        misc.has(Misc::SWITCH_OUT_PREEMPT),
    ) {
        (false, _) => "IN         ",
        (true, false) => "OUT        ",
        (true, true) => "OUT preempt",
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{Pid, Tid};

    use super::*;
    use crate::records::text;

    #[test]
    fn in_and_out() {
        assert_eq!(
            text(|out| switch(out, Misc(0))),
            "PERF_RECORD_SWITCH IN         \n"
        );
        let record = SwitchCpuWide {
            next_prev_pid: Pid(-1),
            next_prev_tid: Tid(1),
        };
        let misc = Misc(Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT);
        assert_eq!(
            text(|out| switch_cpu_wide(out, misc, &record)),
            "PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid:    -1/1    \n"
        );
    }
}
