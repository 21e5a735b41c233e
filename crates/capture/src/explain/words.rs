//! The words for each reason: what forbids the event, and what to do. Every command uses these.

use std::fmt;

use oxperf_abi::Cpu;

use super::reason::Reason;
use super::{Explanation, RingExplanation};
use crate::open::RingSizes;
use oxperf_sys::RingError;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Failure to open event '{}': {}.",
            self.event,
            self.error.errno()
        )?;
        self.reason.fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Paranoid { value, needed } => write_paranoid(f, *value, *needed),
            Reason::OpenFiles { limit } => write_open_files(f, *limit),
            Reason::CpuOffline { cpu, online } => {
                write!(f, "CPU {cpu} is not online (online: {}).", list(online))
            }
            Reason::NotPrecise { level } => write!(
                f,
                "This machine cannot sample the event so precisely (level {level}), or not at all.\n\
                 Leave out a 'p' of the modifier, or count it: stat."
            ),
            Reason::RateTooHigh { asked, limit } => write!(
                f,
                "{asked} samples a second are above the limit of {limit} (kernel.perf_event_max_sample_rate).\n\
                 Take fewer (-F {limit}), or allow them: sudo sysctl kernel.perf_event_max_sample_rate={asked}"
            ),
            Reason::GroupTooLarge {
                members,
                nmi_watchdog,
            } => write_group(f, *members, *nmi_watchdog),
            Reason::TraceTerms { terms } => write!(
                f,
                "The Intel PT of this CPU has no {}: leave that out. /sys/bus/event_source/devices/intel_pt/caps tells what it has.",
                terms.join(", ")
            ),
            Reason::Clock { clock } => write!(
                f,
                "Events cannot have the clock with number {clock}: the kernel takes CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,\n\
                 CLOCK_REALTIME, CLOCK_BOOTTIME and CLOCK_TAI, the last three not for events that interrupt the kernel anywhere."
            ),
            Reason::StackSize { bytes } => write!(
                f,
                "A copy of {bytes} bytes of stack is impossible: a multiple of 8 up to 65528 is (--call-graph dwarf,BYTES)."
            ),
            Reason::SampleField { name } => write!(
                f,
                "This kernel or PMU does not take this combination of event, modifiers and options;\n\
                 samples with {name} are the newest that was asked of it."
            ),
            Reason::KernelTooOld { field: Some(field) } => write!(
                f,
                "The kernel is older than the event: it does not know {field}. A newer kernel does."
            ),
            Reason::ChainsTooDeep { asked, limit } => write_depth(f, *asked, *limit),
            Reason::NoMemoryForChains { limit } => write_chain_memory(f, *limit),
            other => f.write_str(other.text()),
        }
    }
}

fn list(cpus: &[Cpu]) -> String {
    let cpus: Vec<String> = cpus.iter().map(Cpu::to_string).collect();
    cpus.join(",")
}

fn write_paranoid(f: &mut fmt::Formatter<'_>, value: i32, needed: i32) -> fmt::Result {
    let what = match needed {
        ..0 => "tracepoints of other users' tasks",
        0 => "counting and recording everybody (-a, -C)",
        1 => "counting and recording the kernel",
        _ => "any performance event",
    };
    write!(
        f,
        "The setting kernel.perf_event_paranoid is {value}; without CAP_PERFMON that forbids {what}.\n\
         Allow it until the next boot: sudo sysctl kernel.perf_event_paranoid={needed}\n\
         or allow it to this program alone, for a group whose members may then watch everybody (GROUP, PROGRAM):\n\
         sudo chgrp GROUP PROGRAM && sudo chmod 0750 PROGRAM && sudo setcap cap_perfmon,cap_sys_ptrace=ep PROGRAM\n\
         or run it as root."
    )?;
    if needed == 1 {
        f.write_str("\nUser mode alone is allowed: add the modifier 'u'.")?;
    }
    Ok(())
}

fn write_open_files(f: &mut fmt::Formatter<'_>, limit: Option<u64>) -> fmt::Result {
    match limit {
        Some(limit) => write!(
            f,
            "More than {limit} files would be open at once. Allow more: ulimit -n {}\n\
             or take fewer events, CPUs (-C) or threads.",
            limit.saturating_mul(8)
        ),
        None => f.write_str("Too many files are open at once. Allow more: ulimit -n 65536"),
    }
}

fn write_group(f: &mut fmt::Formatter<'_>, members: usize, nmi_watchdog: bool) -> fmt::Result {
    write!(
        f,
        "The event cannot join its group: {members} events need as many counters of one PMU at once, on one CPU.\n\
         Take fewer, or let the group be taken apart: '{{..}}:W'."
    )?;
    if nmi_watchdog {
        f.write_str(
            "\nThe kernel's watchdog has a counter; free it: sudo sysctl kernel.nmi_watchdog=0",
        )?;
    }
    Ok(())
}

fn write_depth(f: &mut fmt::Formatter<'_>, asked: u16, limit: Option<u32>) -> fmt::Result {
    let limit = limit.map_or("unknown".to_owned(), |limit| limit.to_string());
    write!(
        f,
        "Call chains of {asked} entries are above the limit (kernel.perf_event_max_stack, now {limit}).\n\
         Take shorter ones (the term max-stack=N of the event), or, while no event takes chains: sudo sysctl kernel.perf_event_max_stack={asked}"
    )
}

fn write_chain_memory(f: &mut fmt::Formatter<'_>, limit: Option<u32>) -> fmt::Result {
    let limit = limit.map_or("unknown".to_owned(), |limit| limit.to_string());
    write!(
        f,
        "The kernel has no memory for the call chains of all CPUs (kernel.perf_event_max_stack is {limit}).\n\
         Lower it while no event takes chains: sudo sysctl kernel.perf_event_max_stack=127"
    )
}

impl Reason {
    /// The words that need no figures.
    fn text(&self) -> &'static str {
        match self {
            Reason::Namespaces => {
                "Records of namespaces (--namespaces) need CAP_PERFMON, whatever kernel.perf_event_paranoid is.\n\
                 Run it as root, or without them."
            }
            Reason::KernelBreakpoint => {
                "A breakpoint in the kernel needs CAP_PERFMON. Run it as root."
            }
            Reason::Seccomp => {
                "A filter of system calls (seccomp) forbids perf_event_open, as containers do by default.\n\
                 Allow it: docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."
            }
            Reason::ForeignTask => {
                "The task belongs to another user, or executes a set-user-id program.\n\
                 Run it as root, or give the program CAP_PERFMON and CAP_SYS_PTRACE."
            }
            Reason::Lockdown => {
                "The kernel is locked down for confidentiality (/sys/kernel/security/lockdown), as Secure Boot may have it:\n\
                 registers and memory of the kernel are closed to root. Take user mode alone (modifier 'u')."
            }
            Reason::SecurityModule => {
                "A security module (SELinux, AppArmor) or the kernel's lockdown forbids it;\n\
                 dmesg may say which."
            }
            Reason::NoCountersHere => {
                "This machine is a virtual one, and its host lends it no hardware counters for the event.\n\
                 Have the host lend them (KVM: -cpu host,pmu=on; clouds: metal instances), or take cpu-clock or task-clock,\n\
                 which work everywhere."
            }
            Reason::NotSupported => {
                "The event is not supported on this machine (virtual machines often have no hardware counters).\n\
                 cpu-clock and task-clock work everywhere."
            }
            Reason::NoTracepoint => {
                "The kernel has no such tracepoint now; a module that has it may have been removed."
            }
            Reason::NoTask => "There is no such process or thread.",
            Reason::CpuLacksFeature => {
                "The CPU lacks a feature that the event needs, or was taken offline meanwhile."
            }
            Reason::NoBranchStack => {
                "This machine's counter cannot sample branches (-b, -j, --call-graph lbr) with this event: branch stacks need\n\
                 a hardware event of a CPU that has them. Take call chains by frame pointers or DWARF in their place."
            }
            Reason::NoAuxOutput => {
                "This machine's PMU, or this kernel before Linux 5.4, cannot write samples of the event to a trace (aux-output)."
            }
            Reason::Overwriting => {
                "This kernel cannot keep the newest records of the event in a ring that it overwrites (Linux 4.7 can).\n\
                 Leave out --overwrite, and overwrite among the event's terms."
            }
            Reason::NoAuxiliaryEvent => {
                "This CPU gives the source of loads only beside an auxiliary event. Put it first in a group:\n\
                 '{cpu/mem-loads-aux/,cpu/mem-loads,ldlat=30/P}:S'"
            }
            Reason::NoAuxAction => {
                "This machine's PMU, or this kernel before Linux 6.13, cannot pause and resume a trace (aux-action)."
            }
            Reason::NoSampling => {
                "This machine's counter cannot sample the event, or not with this modifier, branches or call-graph mode.\n\
                 Count it: stat."
            }
            Reason::SystemWideOnly => {
                "The event's PMU counts for whole sockets, not for tasks. Count everybody: -a."
            }
            Reason::UncoreSampling => {
                "The event's PMU counts for whole sockets and cannot interrupt, so it cannot be sampled. Count it: stat -a."
            }
            Reason::UncoreModes => {
                "The event's PMU does not know which mode a CPU is in. Leave out the modifiers."
            }
            Reason::Modes => {
                "The event's PMU cannot leave modes out, or a security module forbids the event. Leave out the modifiers."
            }
            Reason::EverybodyEverywhere => {
                "Events of everybody need a CPU each. Name CPUs (-C), or all of them (-a)."
            }
            Reason::CgroupEverywhere => "Events of a cgroup need a CPU each. Take all of them: -a.",
            Reason::PinnedMember => {
                "The leader of a group alone can be pinned ('D') or exclusive ('e'). Give the modifier to the group."
            }
            Reason::Breakpoint => {
                "The CPU has no such breakpoint: it watches 1, 2, 4 or 8 bytes at an address that is a multiple of that,\n\
                 and x86 watches no reads alone (use 'rw')."
            }
            Reason::Invalid => {
                "This kernel or PMU does not take this combination of event, modifiers and options."
            }
            Reason::SystemFiles => {
                "Too many files are open in the whole system. Allow more: sudo sysctl fs.file-max=1000000"
            }
            Reason::CountersBusy { nmi_watchdog: true } => {
                "The counters are in use: the kernel's watchdog has one. Free it: sudo sysctl kernel.nmi_watchdog=0"
            }
            Reason::CountersBusy {
                nmi_watchdog: false,
            } => {
                "Another program, or the hypervisor, has the counters for itself. End it (another profiler?) and try again."
            }
            Reason::PmuBusy => {
                "Another event has this PMU for itself: a trace of a CPU and one of a task exclude each other.\n\
                 End the other measurement and try again."
            }
            Reason::NoBreakpoint => {
                "All hardware breakpoints are in use, by other events or by a debugger; x86 has four."
            }
            Reason::NoCounter => "No counter is free. Take fewer events.",
            Reason::NoMemory => {
                "The kernel has no memory for the event. Take fewer events or smaller buffers."
            }
            Reason::NoStackCopies => {
                "This architecture cannot copy user stacks. Take call chains by frame pointers: --call-graph fp."
            }
            Reason::NoPerfEvents => {
                "This kernel was built without performance events (CONFIG_PERF_EVENTS)."
            }
            Reason::NotOne { cgroup: true } => {
                "That is no cgroup. Name one by its path below the mounted cgroup file system."
            }
            Reason::NotOne { cgroup: false } => "The event's group is gone.",
            Reason::BadAddress => {
                "The path or the symbol of the probe cannot be read from this program's memory."
            }
            Reason::Interrupted => {
                "A signal came first, or ftrace has a probe at this place already. Try again, or remove the other probe."
            }
            Reason::KernelTooOld { .. } => {
                "The kernel is older than the event: it does not know all of its fields. A newer kernel does."
            }
            Reason::Unknown
            | Reason::Paranoid { .. }
            | Reason::OpenFiles { .. }
            | Reason::CpuOffline { .. }
            | Reason::NotPrecise { .. }
            | Reason::RateTooHigh { .. }
            | Reason::GroupTooLarge { .. }
            | Reason::TraceTerms { .. }
            | Reason::Clock { .. }
            | Reason::StackSize { .. }
            | Reason::SampleField { .. }
            | Reason::ChainsTooDeep { .. }
            | Reason::NoMemoryForChains { .. } => "The kernel says no more; dmesg may.",
        }
    }
}

impl fmt::Display for RingExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            RingError::LockedMemory { .. } => {
                let limit = self
                    .limit_kb
                    .map_or("unknown".to_owned(), |kb| format!("{kb} kB"));
                write!(
                    f,
                    "Permission error mapping pages: {} need more locked memory than allowed.\n\
                     Use a smaller value of -m/--mmap-pages, or allow more (now {limit}):\n\
                     sudo sysctl kernel.perf_event_mlock_kb=65536",
                    mapped(&self.sizes)
                )
            }
            other => write!(f, "failed to mmap {}: {other}", mapped(&self.sizes)),
        }
    }
}

/// Rings, with the AUX areas beside them.
fn mapped(sizes: &RingSizes) -> String {
    let rings = format!("rings of {} pages", sizes.records.count());
    match &sizes.areas {
        Some(areas) => format!(
            "{rings} with AUX areas of {} pages (-m PAGES,PAGES)",
            areas.pages.count()
        ),
        None => rings,
    }
}
