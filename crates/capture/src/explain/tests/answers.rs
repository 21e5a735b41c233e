//! The answers of the kernel by their causes: rights, machines, requests, resources.

use oxperf_abi::{AttrFlags, BranchSampleType, Cpu, EventType, SampleType};

use super::*;

/// The number, the case, and the parts of the text: which limit or setting, and what to do.
pub(super) type Row = (i32, Case, &'static [&'static str]);

pub(super) fn rights() -> Vec<Row> {
    vec![
        (
            EACCES,
            attr(|attr| attr.flags = AttrFlags::EMPTY),
            &[
                "perf_event_paranoid is 2",
                "recording the kernel",
                "perf_event_paranoid=1",
                "modifier 'u'",
            ],
        ),
        (
            EACCES,
            attr(|attr| attr.sample_type = SampleType::REGS_INTR),
            &["recording the kernel", "perf_event_paranoid=1"],
        ),
        (
            EACCES,
            with(everybody),
            &["everybody", "perf_event_paranoid=0"],
        ),
        (
            EACCES,
            with(|case| {
                everybody(case);
                case.attr.kind = EventType::TRACEPOINT;
            }),
            &["tracepoints", "perf_event_paranoid=-1"],
        ),
        (
            EACCES,
            facts(|facts| facts.permissions.paranoid = Some(4)),
            &[
                "perf_event_paranoid is 4",
                "any performance event",
                "perf_event_paranoid=2",
            ],
        ),
        (
            EACCES,
            attr(|attr| attr.flags |= AttrFlags::NAMESPACES),
            &["namespaces", "CAP_PERFMON"],
        ),
        (
            EACCES,
            with(|case| case.task = AttemptTask::Foreign),
            &["another user", "CAP_SYS_PTRACE"],
        ),
        (EACCES, root(|_| ()), &["SELinux"]),
        (
            EPERM,
            root(|case| case.facts.permissions.seccomp = true),
            &["seccomp", "--cap-add PERFMON"],
        ),
        (
            EPERM,
            attr(|attr| {
                attr.kind = EventType::BREAKPOINT;
                attr.config1 = 0xffff_ffff_8100_0000;
            }),
            &["breakpoint in the kernel", "root"],
        ),
        (
            EPERM,
            attr(|attr| attr.kind = EventType::TRACEPOINT),
            &["tracepoints", "perf_event_paranoid=-1"],
        ),
        (
            EPERM,
            with(|case| {
                case.task = AttemptTask::Foreign;
                case.facts.permissions.paranoid = Some(-1);
            }),
            &["another user"],
        ),
        (
            EPERM,
            root(|case| case.facts.locked_down = true),
            &["locked down", "modifier 'u'"],
        ),
        (
            EPERM,
            root(|case| {
                uncore(case);
                case.attr.flags = AttrFlags::EXCLUDE_USER;
            }),
            &["cannot leave modes out", "modifiers"],
        ),
        (EPERM, root(|_| ()), &["SELinux"]),
    ]
}

pub(super) fn machines() -> Vec<Row> {
    vec![
        (
            ENOENT,
            ordinary(),
            &["not supported on this machine", "cpu-clock"],
        ),
        (
            ENOENT,
            facts(|facts| facts.virtual_machine = true),
            &["virtual one", "pmu=on", "cpu-clock"],
        ),
        (
            ENOENT,
            attr(|attr| attr.kind = EventType::TRACEPOINT),
            &["no such tracepoint", "module"],
        ),
        (ENXIO, ordinary(), &["not supported"]),
        (ENODEV, ordinary(), &["lacks a feature"]),
        (
            ENODEV,
            with(|case| {
                everybody(case);
                case.cpu = Some(Cpu(7));
            }),
            &["CPU 7 is not online", "online: 0,1"],
        ),
        (
            EOPNOTSUPP,
            attr(|attr| {
                attr.sample_type = SampleType::BRANCH_STACK;
                attr.branch_sample_type = BranchSampleType::ANY;
            }),
            &["branch", "DWARF"],
        ),
        (
            EOPNOTSUPP,
            attr(|attr| attr.flags |= AttrFlags::AUX_OUTPUT),
            &["aux-output"],
        ),
        (
            EOPNOTSUPP,
            attr(|attr| attr.aux_action = 2),
            &["aux-action", "6.13"],
        ),
        (
            EOPNOTSUPP,
            attr(|attr| attr.flags.set_precise_ip(2)),
            &["precisely (level 2)", "'p'"],
        ),
        (EOPNOTSUPP, ordinary(), &["cannot sample", "stat"]),
        (
            EOPNOTSUPP,
            with(|case| {
                uncore(case);
                case.attr.sample_period = 1;
            }),
            &["whole sockets", "stat -a"],
        ),
        (EOPNOTSUPP, with(uncore), &["whole sockets", "-a"]),
        (
            EOPNOTSUPP,
            attr(|attr| attr.sample_period = 0),
            &["not supported"],
        ),
        (
            ENOSYS,
            facts(|facts| facts.permissions.seccomp = true),
            &["seccomp"],
        ),
        (
            ENOSYS,
            attr(|attr| attr.sample_type = SampleType::STACK_USER),
            &["copy user stacks", "--call-graph fp"],
        ),
        (
            ENOSYS,
            facts(|facts| facts.permissions.paranoid = None),
            &["CONFIG_PERF_EVENTS"],
        ),
        (
            E2BIG,
            attr(|attr| attr.config3 = 1),
            &["config3 (Linux 6.3)", "newer kernel"],
        ),
        (E2BIG, ordinary(), &["older", "newer kernel"]),
    ]
}

pub(super) fn requests() -> Vec<Row> {
    vec![
        (
            EINVAL,
            with(|case| {
                case.attr.config = 1 << 12;
                case.facts.missing_trace_terms = vec![("ptw", 1 << 12), ("notnt", 1 << 55)];
            }),
            &["has no ptw: leave that out", "intel_pt/caps"],
        ),
        (
            EINVAL,
            attr(|attr| {
                attr.flags |= AttrFlags::FREQ;
                attr.sample_period = 200_000;
            }),
            &["200000 samples", "limit of 100000", "-F 100000"],
        ),
        (
            EINVAL,
            with(|case| case.task = AttemptTask::Everybody),
            &["need a CPU each", "-a"],
        ),
        (
            EINVAL,
            with(|case| case.task = AttemptTask::Cgroup),
            &["cgroup", "-a"],
        ),
        (
            EINVAL,
            with(|case| case.cpu = Some(Cpu(99))),
            &["CPU 99 is not online"],
        ),
        (EINVAL, with(uncore), &["whole sockets", "-a"]),
        (
            EINVAL,
            with(|case| {
                uncore(case);
                everybody(case);
                case.attr.sample_period = 1;
            }),
            &["cannot be sampled", "stat -a"],
        ),
        (
            EINVAL,
            with(|case| {
                uncore(case);
                everybody(case);
                case.attr.flags = AttrFlags::EXCLUDE_KERNEL;
            }),
            &["which mode", "modifiers"],
        ),
        (
            EINVAL,
            with(|case| {
                case.group = Some(3);
                case.attr.flags |= AttrFlags::PINNED;
            }),
            &["leader", "'D'"],
        ),
        (
            EINVAL,
            with(|case| case.group = Some(6)),
            &["6 events", ":W"],
        ),
        (
            EINVAL,
            with(|case| {
                case.group = Some(5);
                case.facts.nmi_watchdog = true;
            }),
            &["5 events", "nmi_watchdog=0"],
        ),
        (
            EINVAL,
            attr(|attr| {
                attr.flags |= AttrFlags::USE_CLOCKID;
                attr.clockid = 2;
            }),
            &["clock with number 2", "CLOCK_MONOTONIC"],
        ),
        (
            EINVAL,
            attr(|attr| {
                attr.sample_type = SampleType::STACK_USER;
                attr.sample_stack_user = 65_536;
            }),
            &["65536 bytes", "65528"],
        ),
        (
            EINVAL,
            attr(|attr| attr.kind = EventType::BREAKPOINT),
            &["no such breakpoint", "1, 2, 4 or 8"],
        ),
        (
            EINVAL,
            attr(|attr| attr.sample_type = SampleType::CODE_PAGE_SIZE),
            &["code pages (Linux 5.11)"],
        ),
        (
            EINVAL,
            attr(|attr| attr.aux_action = 1),
            &["aux-action", "6.13"],
        ),
        (
            EINVAL,
            attr(|attr| attr.flags |= AttrFlags::AUX_OUTPUT),
            &["aux-output", "5.4"],
        ),
        (
            EINVAL,
            attr(|attr| attr.flags |= AttrFlags::WRITE_BACKWARD),
            &["newest records", "--overwrite"],
        ),
        (EINVAL, ordinary(), &["combination"]),
    ]
}

pub(super) fn resources() -> Vec<Row> {
    vec![
        (ESRCH, ordinary(), &["no such process"]),
        (
            EMFILE,
            ordinary(),
            &["More than 1024 files", "ulimit -n 8192", "-C"],
        ),
        (
            EMFILE,
            facts(|facts| facts.permissions.open_files = None),
            &["ulimit -n 65536"],
        ),
        (ENFILE, ordinary(), &["fs.file-max"]),
        (
            EBUSY,
            facts(|facts| facts.nmi_watchdog = true),
            &["watchdog", "nmi_watchdog=0"],
        ),
        (EBUSY, ordinary(), &["Another program", "hypervisor"]),
        (
            EBUSY,
            with(|case| {
                case.attr.kind = EventType(9);
                case.pmu = "intel_pt";
            }),
            &["PMU for itself", "End the other measurement"],
        ),
        (
            ENOSPC,
            attr(|attr| attr.kind = EventType::BREAKPOINT),
            &["All hardware breakpoints", "debugger"],
        ),
        (ENOSPC, ordinary(), &["No counter is free"]),
        (
            EOVERFLOW,
            attr(|attr| attr.sample_max_stack = 500),
            &["500 entries", "now 127", "perf_event_max_stack=500"],
        ),
        (
            ENOMEM,
            attr(|attr| attr.sample_type = SampleType::CALLCHAIN),
            &["call chains", "perf_event_max_stack is 127"],
        ),
        (ENOMEM, ordinary(), &["no memory"]),
        (
            EBADF,
            with(|case| {
                case.task = AttemptTask::Cgroup;
                case.cpu = Some(Cpu(0));
            }),
            &["no cgroup", "path"],
        ),
        (EBADF, ordinary(), &["group is gone"]),
        (EFAULT, ordinary(), &["probe"]),
        (EINTR, ordinary(), &["ftrace", "Try again"]),
        (ENODATA, ordinary(), &["auxiliary event", "mem-loads-aux"]),
        (EIO, ordinary(), &["dmesg"]),
    ]
}
