//! From the kernel's answer to the reason: a pure function of what was asked, the answer and the state of the machine.
//!
//! One number of the kernel has many causes. They are looked at in the order in which the kernel tests them, as far as that
//! is known, and the first that is so is the reason.

use oxperf_abi::{AttrFlags, Cpu, EventType, KERNEL_START, SampleType};
use oxperf_sys::OpenError;

use super::attempt::{AttemptTask, OpenAttempt};
use super::facts::OpenFacts;

/// The reason why an event is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The setting `kernel.perf_event_paranoid`.
    Paranoid {
        /// Its value.
        value: i32,
        /// The highest value that allows the event.
        needed: i32,
    },
    /// Records of namespaces, which no value of the setting allows.
    Namespaces,
    /// A breakpoint in the kernel.
    KernelBreakpoint,
    /// A filter of system calls.
    Seccomp,
    /// The task belongs to somebody else.
    ForeignTask,
    /// The kernel is locked down.
    Lockdown,
    /// A security module.
    SecurityModule,
    /// No such hardware event, and the machine is a virtual one.
    NoCountersHere,
    /// The machine cannot count it.
    NotSupported,
    /// A tracepoint that the kernel does not have.
    NoTracepoint,
    /// No such task.
    NoTask,
    /// A CPU that is not online.
    CpuOffline {
        /// The CPU.
        cpu: Cpu,
        /// Those that are.
        online: Vec<Cpu>,
    },
    /// The CPU lacks a feature that the event needs.
    CpuLacksFeature,
    /// No branch stacks.
    NoBranchStack,
    /// The PMU cannot write to an AUX area of another event.
    NoAuxOutput,
    /// The PMU cannot pause or resume a trace.
    NoAuxAction,
    /// The machine cannot sample so precisely.
    NotPrecise {
        /// The precision.
        level: u8,
    },
    /// The machine counts it but cannot interrupt on it.
    NoSampling,
    /// The PMU counts for whole CPUs alone.
    SystemWideOnly,
    /// The PMU of a socket cannot sample.
    UncoreSampling,
    /// The PMU of a socket knows no modes.
    UncoreModes,
    /// Modes that the PMU cannot leave out.
    Modes,
    /// A sampling frequency above the limit.
    RateTooHigh {
        /// The frequency, Hz.
        asked: u64,
        /// The limit, Hz.
        limit: u64,
    },
    /// Everybody, and no CPU.
    EverybodyEverywhere,
    /// A cgroup, and no CPU.
    CgroupEverywhere,
    /// A pinned or exclusive event that leads no group.
    PinnedMember,
    /// A group that the PMU has not enough counters for.
    GroupTooLarge {
        /// Events up to the one that was refused.
        members: usize,
        /// A counter is the watchdog's.
        nmi_watchdog: bool,
    },
    /// A clock that events cannot have.
    Clock {
        /// Its number.
        clock: i32,
    },
    /// A copy of the stack of a size that the kernel does not take.
    StackSize {
        /// Bytes.
        bytes: u32,
    },
    /// A breakpoint of an odd length or place.
    Breakpoint,
    /// A ring that the kernel overwrites.
    Overwriting,
    /// A load event without its auxiliary event.
    NoAuxiliaryEvent,
    /// A field of samples that the kernel may not know.
    SampleField {
        /// Its name.
        name: &'static str,
    },
    /// Terms of a hardware trace that the CPU does not have.
    TraceTerms {
        /// Their names.
        terms: Vec<&'static str>,
    },
    /// The kernel does not take this attribute.
    Invalid,
    /// The attribute has fields that the kernel does not know.
    KernelTooOld {
        /// The newest field.
        field: Option<&'static str>,
    },
    /// Too many open files.
    OpenFiles {
        /// The limit.
        limit: Option<u64>,
    },
    /// The system's table of files is full.
    SystemFiles,
    /// The watchdog or another program has the counters of the core.
    CountersBusy {
        /// The watchdog has one.
        nmi_watchdog: bool,
    },
    /// Another event has the PMU for itself.
    PmuBusy,
    /// No free breakpoint.
    NoBreakpoint,
    /// No free counter.
    NoCounter,
    /// Call chains deeper than the limit.
    ChainsTooDeep {
        /// Entries.
        asked: u16,
        /// The limit.
        limit: Option<u32>,
    },
    /// No memory for buffers of call chains.
    NoMemoryForChains {
        /// The depth that they are made for.
        limit: Option<u32>,
    },
    /// No memory.
    NoMemory,
    /// No copies of the stack on this architecture.
    NoStackCopies,
    /// The kernel was built without performance events.
    NoPerfEvents,
    /// A leader that is none, or a cgroup that is none.
    NotOne {
        /// A cgroup was named.
        cgroup: bool,
    },
    /// A text of the attribute that cannot be read.
    BadAddress,
    /// A signal came, or ftrace has the probe.
    Interrupted,
    /// Nothing better is known than the kernel's answer.
    Unknown,
}

impl Reason {
    /// Finds the reason of a refusal.
    pub fn of(attempt: &OpenAttempt<'_>, error: OpenError, facts: &OpenFacts) -> Reason {
        match error {
            OpenError::AccessDenied => access_denied(attempt, facts),
            OpenError::NotPermitted => not_permitted(attempt, facts),
            OpenError::NoSuchEvent | OpenError::NoPmu => not_found(attempt, facts),
            OpenError::NoDevice => no_device(attempt, facts),
            OpenError::Unsupported => unsupported(attempt, facts),
            OpenError::Invalid => invalid(attempt, facts),
            OpenError::TooNew => Reason::KernelTooOld {
                field: attempt.newest_field(),
            },
            OpenError::NoSuchTask => Reason::NoTask,
            OpenError::ProcessFiles => Reason::OpenFiles {
                limit: facts.permissions.open_files,
            },
            OpenError::SystemFiles => Reason::SystemFiles,
            OpenError::Busy => busy(attempt, facts),
            OpenError::NoSpace if attempt.attr.kind == EventType::BREAKPOINT => {
                Reason::NoBreakpoint
            }
            OpenError::NoSpace => Reason::NoCounter,
            OpenError::NoData => Reason::NoAuxiliaryEvent,
            OpenError::StackTooDeep if attempt.attr.sample_max_stack == 0 => Reason::Unknown,
            OpenError::StackTooDeep => Reason::ChainsTooDeep {
                asked: attempt.attr.sample_max_stack,
                limit: facts.max_stack,
            },
            OpenError::NoMemory if attempt.takes(SampleType::CALLCHAIN) => {
                Reason::NoMemoryForChains {
                    limit: facts.max_stack,
                }
            }
            OpenError::NoMemory => Reason::NoMemory,
            OpenError::NotImplemented => not_implemented(attempt, facts),
            OpenError::BadDescriptor => Reason::NotOne {
                cgroup: attempt.task == AttemptTask::Cgroup,
            },
            OpenError::BadAddress => Reason::BadAddress,
            OpenError::Interrupted => Reason::Interrupted,
            OpenError::Other(_) => Reason::Unknown,
        }
    }
}

/// The highest value of the setting at which an unprivileged process may have the event.
fn highest_allowed(attempt: &OpenAttempt<'_>) -> i32 {
    let is_wide = attempt.is_system_wide() || attempt.task == AttemptTask::Cgroup;
    if is_wide && attempt.attr.kind == EventType::TRACEPOINT {
        -1
    } else if is_wide {
        0
    } else if attempt.shows_kernel() {
        1
    } else {
        2
    }
}

/// The setting, where it is what forbids the event.
fn paranoid(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    let needed = highest_allowed(attempt);
    let value = facts.permissions.paranoid?;
    let forbids = !facts.permissions.privileged && value > needed;
    forbids.then_some(Reason::Paranoid { value, needed })
}

fn access_denied(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    let rights = facts.permissions;
    if let Some(reason) = paranoid(attempt, facts) {
        return reason;
    }
    if !rights.privileged && attempt.has(AttrFlags::NAMESPACES) {
        return Reason::Namespaces;
    }
    if !rights.privileged && attempt.task == AttemptTask::Foreign {
        return Reason::ForeignTask;
    }
    forbidden(facts)
}

fn not_permitted(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    let rights = facts.permissions;
    if let Some(reason) = paranoid(attempt, facts) {
        return reason;
    }
    if rights.seccomp {
        return Reason::Seccomp;
    }
    if !rights.privileged && is_kernel_breakpoint(attempt) {
        return Reason::KernelBreakpoint;
    }
    if !rights.privileged && attempt.attr.kind == EventType::TRACEPOINT {
        let value = rights.paranoid.unwrap_or(0);
        return Reason::Paranoid { value, needed: -1 };
    }
    if !rights.privileged && attempt.task == AttemptTask::Foreign {
        return Reason::ForeignTask;
    }
    if facts.locked_down {
        return Reason::Lockdown;
    }
    let of_pmu = !attempt.is_of_core() && attempt.attr.kind.0 > EventType::BREAKPOINT.0;
    if of_pmu && attempt.leaves_modes_out() {
        return Reason::Modes;
    }
    Reason::SecurityModule
}

fn is_kernel_breakpoint(attempt: &OpenAttempt<'_>) -> bool {
    attempt.attr.kind == EventType::BREAKPOINT && attempt.attr.config1 >= KERNEL_START
}

/// What is left when no rule of performance events forbids it.
fn forbidden(facts: &OpenFacts) -> Reason {
    if facts.permissions.seccomp {
        Reason::Seccomp
    } else if facts.locked_down {
        Reason::Lockdown
    } else {
        Reason::SecurityModule
    }
}

fn not_found(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    match attempt.attr.kind {
        EventType::TRACEPOINT => Reason::NoTracepoint,
        _ if attempt.is_of_core() && facts.virtual_machine => Reason::NoCountersHere,
        _ => Reason::NotSupported,
    }
}

fn no_device(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    offline(attempt, facts).unwrap_or_else(|| match attempt.is_of_core() && facts.virtual_machine {
        true => Reason::NoCountersHere,
        false => Reason::CpuLacksFeature,
    })
}

fn offline(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    let cpu = attempt.cpu?;
    let is_offline = !facts.online.is_empty() && !facts.online.contains(&cpu);
    is_offline.then(|| Reason::CpuOffline {
        cpu,
        online: facts.online.clone(),
    })
}

fn unsupported(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    let level = attempt.attr.flags.precise_ip();
    if attempt.takes(SampleType::BRANCH_STACK) {
        Reason::NoBranchStack
    } else if attempt.has(AttrFlags::AUX_OUTPUT) {
        Reason::NoAuxOutput
    } else if attempt.attr.aux_action != 0 {
        Reason::NoAuxAction
    } else if facts.pmu_is_uncore && attempt.samples() {
        Reason::UncoreSampling
    } else if level > 0 {
        Reason::NotPrecise { level }
    } else if attempt.samples() {
        Reason::NoSampling
    } else if facts.pmu_is_uncore && !attempt.is_system_wide() {
        Reason::SystemWideOnly
    } else {
        Reason::NotSupported
    }
}

fn invalid(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    let reasons = [
        trace_terms(attempt, facts),
        rate(attempt, facts),
        place(attempt, facts),
        uncore(attempt, facts),
        group(attempt, facts),
        fields(attempt),
    ];
    reasons
        .into_iter()
        .flatten()
        .next()
        .unwrap_or(Reason::Invalid)
}

fn trace_terms(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    let is_asked = |(_, bits): &&(&str, u64)| attempt.attr.config & bits != 0;
    let missing = facts.missing_trace_terms.iter().filter(is_asked);
    let terms: Vec<&'static str> = missing.map(|(term, _)| *term).collect();
    (!terms.is_empty()).then_some(Reason::TraceTerms { terms })
}

fn rate(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    let (asked, limit) = (attempt.attr.sample_period, facts.max_sample_rate?);
    let is_above = attempt.has(AttrFlags::FREQ) && asked > limit;
    is_above.then_some(Reason::RateTooHigh { asked, limit })
}

fn place(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    match (attempt.task, attempt.cpu) {
        (AttemptTask::Everybody, None) => Some(Reason::EverybodyEverywhere),
        (AttemptTask::Cgroup, None) => Some(Reason::CgroupEverywhere),
        _ => offline(attempt, facts),
    }
}

fn uncore(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    if !facts.pmu_is_uncore {
        None
    } else if !attempt.is_system_wide() {
        Some(Reason::SystemWideOnly)
    } else if attempt.samples() {
        Some(Reason::UncoreSampling)
    } else {
        attempt.leaves_modes_out().then_some(Reason::UncoreModes)
    }
}

fn group(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Option<Reason> {
    let members = attempt.group?;
    let alone = AttrFlags::PINNED | AttrFlags::EXCLUSIVE;
    Some(match attempt.attr.flags.intersects(alone) {
        true => Reason::PinnedMember,
        false => Reason::GroupTooLarge {
            members,
            nmi_watchdog: facts.nmi_watchdog && attempt.is_of_core(),
        },
    })
}

fn fields(attempt: &OpenAttempt<'_>) -> Option<Reason> {
    /// The most that the kernel copies, and the step of sizes.
    const MOST_STACK: u32 = 65_528;
    const STEP: u32 = 8;
    let attr = attempt.attr;
    let copies_stack = attempt.takes(SampleType::STACK_USER);
    if attr.aux_action != 0 {
        Some(Reason::NoAuxAction)
    } else if attempt.has(AttrFlags::AUX_OUTPUT) {
        Some(Reason::NoAuxOutput)
    } else if attempt.has(AttrFlags::WRITE_BACKWARD) {
        Some(Reason::Overwriting)
    } else if attempt.has(AttrFlags::USE_CLOCKID) {
        Some(Reason::Clock {
            clock: attr.clockid,
        })
    } else if copies_stack
        && (attr.sample_stack_user > MOST_STACK || !attr.sample_stack_user.is_multiple_of(STEP))
    {
        Some(Reason::StackSize {
            bytes: attr.sample_stack_user,
        })
    } else if attr.kind == EventType::BREAKPOINT {
        Some(Reason::Breakpoint)
    } else {
        newest_sample_field(attempt).map(|name| Reason::SampleField { name })
    }
}

/// The newest field of samples in use, with the kernel that brought it.
fn newest_sample_field(attempt: &OpenAttempt<'_>) -> Option<&'static str> {
    let fields = [
        (SampleType::WEIGHT_STRUCT, "weights in parts (Linux 5.12)"),
        (
            SampleType::CODE_PAGE_SIZE,
            "the size of code pages (Linux 5.11)",
        ),
        (
            SampleType::DATA_PAGE_SIZE,
            "the size of data pages (Linux 5.11)",
        ),
        (SampleType::CGROUP, "cgroups (Linux 5.7)"),
        (SampleType::AUX, "pieces of AUX trace (Linux 5.5)"),
        (SampleType::PHYS_ADDR, "physical addresses (Linux 4.14)"),
    ];
    let newest = fields.into_iter().find(|(field, _)| attempt.takes(*field));
    newest.map(|(_, name)| name)
}

fn busy(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    match attempt.is_of_core() || attempt.pmu.starts_with("cpu") {
        true => Reason::CountersBusy {
            nmi_watchdog: facts.nmi_watchdog,
        },
        false => Reason::PmuBusy,
    }
}

fn not_implemented(attempt: &OpenAttempt<'_>, facts: &OpenFacts) -> Reason {
    if facts.permissions.seccomp {
        Reason::Seccomp
    } else if attempt.takes(SampleType::STACK_USER) && facts.permissions.paranoid.is_some() {
        Reason::NoStackCopies
    } else {
        Reason::NoPerfEvents
    }
}
