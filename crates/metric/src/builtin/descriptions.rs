//! What the built-in metrics say, in a phrase each, by their names: a name means the same on every core.

/// The phrase for a metric.
pub(super) fn of(name: &str) -> Option<&'static str> {
    let mut rows = DESCRIPTIONS.iter();
    rows.find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

const DESCRIPTIONS: [(&str, &str); 50] = [
    // Of tasks and CPUs.
    (
        "CPUs_utilized",
        "CPUs that were busy on average: the time that was counted by the time that passed",
    ),
    ("cs_per_second", "Context switches in a second of CPU time"),
    (
        "migrations_per_second",
        "Moves of tasks from one CPU to another in a second of CPU time",
    ),
    (
        "page_faults_per_second",
        "Page faults in a second of CPU time",
    ),
    // Of instructions and cycles.
    ("insn_per_cycle", "Instructions that retired in a cycle"),
    (
        "cycles_frequency",
        "Cycles in a second of CPU time: the frequency at which the cores ran",
    ),
    (
        "frontend_cycles_idle",
        "Share of cycles without issue for want of instructions",
    ),
    (
        "backend_cycles_idle",
        "Share of cycles that waited for results",
    ),
    (
        "stalled_cycles_per_instruction",
        "Idle cycles of the front end or the back end (whichever is more) for an instruction",
    ),
    // Of branches.
    ("branch_frequency", "Branches in a second of CPU time"),
    (
        "branch_miss_rate",
        "Share of branches that were predicted wrongly",
    ),
    // Of caches and TLBs.
    (
        "l1d_miss_rate",
        "Share of loads that missed the first data cache",
    ),
    (
        "llc_miss_rate",
        "Share of loads of the last cache level that missed it",
    ),
    (
        "l1i_miss_rate",
        "Share of fetches that missed the first instruction cache",
    ),
    (
        "dtlb_miss_rate",
        "Share of loads whose address was not in the data TLB",
    ),
    (
        "itlb_miss_rate",
        "Share of fetches whose address was not in the instruction TLB",
    ),
    (
        "l1_prefetch_miss_rate",
        "Share of prefetches into the first data cache that found nothing there",
    ),
    (
        "cache_miss_rate",
        "Share of accesses of the last cache level that missed it",
    ),
    // Of a thousand instructions.
    (
        "branch_mpki",
        "Branches predicted wrongly in a thousand instructions",
    ),
    (
        "cache_mpki",
        "Misses of the last cache level in a thousand instructions",
    ),
    (
        "l1d_mpki",
        "Loads that missed the first data cache in a thousand instructions",
    ),
    (
        "dtlb_mpki",
        "Loads that missed the data TLB in a thousand instructions",
    ),
    (
        "itlb_mpki",
        "Fetches that missed the instruction TLB in a thousand instructions",
    ),
    // The top-down method of Intel.
    (
        "tma_retiring",
        "Share of issue slots whose operations retired",
    ),
    (
        "tma_bad_speculation",
        "Share of issue slots lost to wrong speculation and to recovery from it",
    ),
    (
        "tma_frontend_bound",
        "Share of issue slots that the front end left empty",
    ),
    (
        "tma_backend_bound",
        "Share of issue slots that the back end could not take",
    ),
    (
        "tma_heavy_operations",
        "Share of issue slots that retired instructions of several operations or of microcode",
    ),
    (
        "tma_light_operations",
        "Share of issue slots that retired instructions of one operation",
    ),
    (
        "tma_branch_mispredicts",
        "Share of issue slots lost to branches predicted wrongly",
    ),
    (
        "tma_machine_clears",
        "Share of issue slots lost where the pipeline was emptied for other reasons than a branch",
    ),
    (
        "tma_fetch_latency",
        "Share of issue slots left empty while the front end delivered nothing",
    ),
    (
        "tma_fetch_bandwidth",
        "Share of issue slots left empty while the front end delivered too little",
    ),
    (
        "tma_memory_bound",
        "Share of issue slots that waited for loads and stores",
    ),
    (
        "tma_core_bound",
        "Share of issue slots that waited for execution units or for results of the core",
    ),
    // Of AMD and Arm.
    (
        "frontend_bound",
        "Share of slots that the front end left empty",
    ),
    (
        "backend_bound",
        "Share of slots that the back end could not take",
    ),
    ("retiring", "Share of slots whose operations retired"),
    (
        "bad_speculation",
        "Share of slots whose operations did not retire",
    ),
    (
        "frontend_stalled_cycles",
        "Share of cycles without operations from the front end",
    ),
    (
        "backend_stalled_cycles",
        "Share of cycles in which the back end took no operation",
    ),
    (
        "smt_contention",
        "Share of slots that the core gave to its other hardware thread",
    ),
    (
        "frontend_bound_latency",
        "Share of slots left empty while the front end delivered nothing",
    ),
    (
        "frontend_bound_bandwidth",
        "Share of slots left empty while the front end delivered too little",
    ),
    (
        "backend_bound_memory",
        "Share of slots that waited for loads",
    ),
    (
        "backend_bound_cpu",
        "Share of slots that waited for the core and not for loads",
    ),
    (
        "retiring_fastpath",
        "Share of slots that retired operations of the decoders",
    ),
    (
        "retiring_microcode",
        "Share of slots that retired operations of microcode",
    ),
    (
        "bad_speculation_mispredicts",
        "Share of slots lost to branches predicted wrongly",
    ),
    (
        "bad_speculation_pipeline_restarts",
        "Share of slots lost where the pipeline began anew for other reasons than a branch",
    ),
];
