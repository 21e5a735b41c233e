//! Metrics that are built in.

/// The names of the metrics that every core PMU has.
pub const DEFAULT_NAMES: [&str; 17] = [
    "CPUs_utilized",
    "backend_cycles_idle",
    "branch_frequency",
    "branch_miss_rate",
    "cs_per_second",
    "cycles_frequency",
    "frontend_cycles_idle",
    "insn_per_cycle",
    "migrations_per_second",
    "page_faults_per_second",
    "stalled_cycles_per_instruction",
    "l1d_miss_rate",
    "llc_miss_rate",
    "dtlb_miss_rate",
    "itlb_miss_rate",
    "l1i_miss_rate",
    "l1_prefetch_miss_rate",
];
