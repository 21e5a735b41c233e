//! COMM, FORK and EXIT: threads take names, begin and end.

use oxperf_abi::Misc;
use oxperf_wire::kernel::{Comm, TaskEvent};

use super::name;
use crate::text::put;

/// Appends the line of a COMM record; an exec is in its header.
pub(super) fn comm(out: &mut Vec<u8>, misc: Misc, record: &Comm<'_>) {
    let exec = if misc.has(Misc::COMM_EXEC) {
        " exec"
    } else {
        ""
    };
    let (pid, tid) = (record.pid.0, record.tid.0);
    put!(
        out,
        "PERF_RECORD_COMM{exec}: {}:{pid}/{tid}\n",
        name(record.comm),
    );
}

/// Appends the line of a FORK record: the child, then its parent.
pub(super) fn fork(out: &mut Vec<u8>, record: &TaskEvent) {
    task("FORK", out, record);
}

/// Appends the line of an EXIT record: who ended, then its parent.
pub(super) fn exit(out: &mut Vec<u8>, record: &TaskEvent) {
    task("EXIT", out, record);
}

fn task(kind: &str, out: &mut Vec<u8>, record: &TaskEvent) {
    let (pid, tid, ppid, ptid) = (record.pid.0, record.tid.0, record.ppid.0, record.ptid.0);
    put!(out, "PERF_RECORD_{kind}({pid}:{tid}):({ppid}:{ptid})\n");
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{PerfTime, Pid, Tid};

    use super::*;
    use crate::records::text;

    #[test]
    fn names_and_lives() {
        let named = Comm {
            pid: Pid(7),
            tid: Tid(8),
            comm: b"ls\nx",
        };
        assert_eq!(
            text(|out| comm(out, Misc(0), &named)),
            "PERF_RECORD_COMM: ls\\nx:7/8\n"
        );
        let exec = Misc(Misc::COMM_EXEC);
        assert_eq!(
            text(|out| comm(out, exec, &named)),
            "PERF_RECORD_COMM exec: ls\\nx:7/8\n"
        );
        let life = TaskEvent {
            pid: Pid(2),
            ppid: Pid(1),
            tid: Tid(3),
            ptid: Tid(1),
            time: PerfTime(9),
        };
        assert_eq!(
            text(|out| fork(out, &life)),
            "PERF_RECORD_FORK(2:3):(1:1)\n"
        );
        assert_eq!(
            text(|out| exit(out, &life)),
            "PERF_RECORD_EXIT(2:3):(1:1)\n"
        );
    }
}
