//! The state of the machine that decides why an event is refused.

use oxperf_abi::Cpu;

/// The settings and rights that decide whether an event may be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Permissions {
    /// `kernel.perf_event_paranoid`; `None` when the kernel has no performance events or hides it.
    pub paranoid: Option<i32>,
    /// `true` if this process may do what unprivileged ones may not (`CAP_PERFMON` or `CAP_SYS_ADMIN`).
    pub privileged: bool,
    /// `true` if system calls of this process are filtered, as in most containers.
    pub seccomp: bool,
    /// Files that this process may have open at once.
    pub open_files: Option<u64>,
}

/// All that is known of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OpenFacts {
    /// Settings and rights.
    pub permissions: Permissions,
    /// The CPUs that are online.
    pub online: Vec<Cpu>,
    /// `kernel.perf_event_max_sample_rate`, Hz.
    pub max_sample_rate: Option<u64>,
    /// `kernel.perf_event_max_stack`, entries.
    pub max_stack: Option<u32>,
    /// The kernel watches itself with a counter of the core.
    pub nmi_watchdog: bool,
    /// The kernel is locked down so far that it keeps its secrets from root.
    pub locked_down: bool,
    /// The machine is a virtual one.
    pub virtual_machine: bool,
    /// The event's PMU counts for a whole socket or system, not for tasks.
    pub pmu_is_uncore: bool,
    /// Terms of Intel PT that this CPU does not have, with their bits of `config`; of other PMUs none.
    pub missing_trace_terms: Vec<(&'static str, u64)>,
}
