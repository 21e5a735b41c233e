//! Shapes of tasks: forks, names, threads, exits, switches, namespaces, groups of processes.

use super::{Draft, Row};

pub(super) const SHAPES: &[Row] = &[
    ("fork chain", 250, fork_chain),
    ("fork fan", 250, fork_fan),
    ("comms", 500, comms),
    ("threads", 500, threads),
    ("exits", 250, exits),
    ("switches", 500, switches),
    ("namespaces", 250, namespaces),
    ("cgroups", 250, cgroups),
];

const PAGE: u64 = 0x1000;
const BASE: u64 = 0x10_0000_0000;

fn fork(draft: &mut Draft, parent: usize, pid: usize, tid: usize) {
    let time = draft.time + 10;
    draft.at_next(format_args!(
        "fork pid={pid} ppid={parent} tid={tid} ptid={parent} time={time}"
    ));
}

/// Each process is the child of the one before, and maps something of its own.
fn fork_chain(draft: &mut Draft, count: usize) {
    for pid in 1..=count {
        draft.mmap(pid, BASE + pid as u64 * PAGE, PAGE, "/a");
        draft.sample(pid, BASE + PAGE);
        fork(draft, pid, pid + 1, pid + 1);
    }
}

/// All processes are children of one that has a mapping for every four of them, and change one of their own.
fn fork_fan(draft: &mut Draft, count: usize) {
    (0..count as u64 / 4).for_each(|n| draft.mmap(1, BASE + 2 * n * PAGE, PAGE, "/a"));
    for pid in 2..2 + count {
        fork(draft, 1, pid, pid);
        draft.mmap(
            pid,
            BASE + 2 * (pid as u64 * 7919 % count as u64) * PAGE,
            PAGE,
            "/b",
        );
        draft.sample(pid, BASE + PAGE / 2);
    }
}

fn comms(draft: &mut Draft, count: usize) {
    for n in 0..count {
        draft.at_next(format_args!("comm pid=1 tid=1 name{n}"));
        draft.sample(1, BASE);
    }
}

fn threads(draft: &mut Draft, count: usize) {
    for tid in 2..2 + count {
        fork(draft, 1, 1, tid);
        draft.time += 10;
        let time = draft.time;
        draft.line(format_args!(
            "sample mode=user ip={BASE:#x} pid=1 tid={tid} time={time}"
        ));
    }
}

/// One id is taken again and again.
fn exits(draft: &mut Draft, count: usize) {
    draft.mmap(1, BASE, PAGE, "/a");
    for _ in 0..count {
        fork(draft, 1, 2, 2);
        draft.sample(2, BASE);
        let time = draft.time + 10;
        draft.at_next(format_args!("exit pid=2 ppid=1 tid=2 ptid=1 time={time}"));
    }
}

fn switches(draft: &mut Draft, count: usize) {
    for n in 1..=count {
        draft.at_next(format_args!("switch_cpu_wide pid={n} tid={n} misc=0x2000"));
        draft.at_next(format_args!("switch"));
    }
    draft.sample(1, BASE);
}

fn namespaces(draft: &mut Draft, count: usize) {
    for n in 1..=count as u32 {
        let mut body = [n, n].map(u32::to_le_bytes).concat();
        let links = (0..7_u64).flat_map(|kind| [kind, u64::from(n)]);
        body.extend([7].into_iter().chain(links).flat_map(u64::to_le_bytes));
        draft.raw(16, &body);
        draft.sample(n as usize, BASE);
    }
}

fn cgroups(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 {
        let mut body = n.to_le_bytes().to_vec();
        body.extend(format!("/group/{n}\0").bytes());
        draft.raw(19, &body);
        draft.sample(1, BASE);
    }
}
