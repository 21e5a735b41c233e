//! Metrics of the kernel's generic events. The groups `Default`, `Default2`, `Default3` and `Default4` are what `stat`
//! shows alone and with `-d`, `-dd` and `-ddd`.

use super::row::Row;

/// Time that was counted: of CPUs where CPUs are counted, of tasks where tasks are.
macro_rules! clock {
    () => {
        r"(software@cpu\-clock\,name\=cpu\-clock@ if #target_cpu else software@task\-clock\,name\=task\-clock@)"
    };
}

pub(super) const ROWS: [Row; 23] = [
    // Of tasks and CPUs.
    Row::new(
        "CPUs_utilized",
        "Default",
        concat!(clock!(), " / (duration_time * 1e9)"),
    )
    .unit("1CPUs")
    .ungrouped(),
    Row::new(
        "cs_per_second",
        "Default",
        concat!(
            r"software@context\-switches\,name\=context\-switches@ * 1e9 / ",
            clock!()
        ),
    )
    .unit("1cs/sec")
    .ungrouped(),
    Row::new(
        "migrations_per_second",
        "Default",
        concat!(
            r"software@cpu\-migrations\,name\=cpu\-migrations@ * 1e9 / ",
            clock!()
        ),
    )
    .unit("1migrations/sec")
    .ungrouped(),
    Row::new(
        "page_faults_per_second",
        "Default",
        concat!(
            r"software@page\-faults\,name\=page\-faults@ * 1e9 / ",
            clock!()
        ),
    )
    .unit("1faults/sec")
    .ungrouped(),
    // Of instructions and cycles.
    Row::new("insn_per_cycle", "Default", r"instructions / cpu\-cycles")
        .threshold("insn_per_cycle < 1")
        .unit("1instructions"),
    Row::new(
        "cycles_frequency",
        "Default",
        concat!(r"cpu\-cycles / ", clock!()),
    )
    .unit("1GHz")
    .ungrouped(),
    Row::new(
        "frontend_cycles_idle",
        "Default",
        r"(stalled\-cycles\-frontend / cpu\-cycles if has_event(stalled\-cycles\-frontend) else 0)",
    )
    .threshold("frontend_cycles_idle > 0.1"),
    Row::new(
        "backend_cycles_idle",
        "Default",
        r"(stalled\-cycles\-backend / cpu\-cycles if has_event(stalled\-cycles\-backend) else 0)",
    )
    .threshold("backend_cycles_idle > 0.2"),
    Row::new(
        "stalled_cycles_per_instruction",
        "Default",
        concat!(
            r"(max(stalled\-cycles\-frontend, stalled\-cycles\-backend) / instructions",
            r" if has_event(stalled\-cycles\-frontend) & has_event(stalled\-cycles\-backend)",
            r" else (stalled\-cycles\-frontend / instructions if has_event(stalled\-cycles\-frontend)",
            r" else (stalled\-cycles\-backend / instructions if has_event(stalled\-cycles\-backend) else 0)))",
        ),
    ),
    // Of branches.
    Row::new(
        "branch_frequency",
        "Default",
        concat!("branches / ", clock!()),
    )
    .unit("1000M/sec")
    .ungrouped(),
    Row::new("branch_miss_rate", "Default", r"branch\-misses / branches")
        .threshold("branch_miss_rate > 0.05")
        .unit("100%"),
    // Of caches and TLBs.
    Row::new(
        "l1d_miss_rate",
        "Default2",
        r"L1\-dcache\-load\-misses / L1\-dcache\-loads",
    )
    .threshold("l1d_miss_rate > 0.05")
    .unit("100%"),
    Row::new(
        "llc_miss_rate",
        "Default2",
        r"LLC\-load\-misses / LLC\-loads",
    )
    .threshold("llc_miss_rate > 0.05")
    .unit("100%"),
    Row::new(
        "l1i_miss_rate",
        "Default3",
        r"L1\-icache\-load\-misses / L1\-icache\-loads",
    )
    .threshold("l1i_miss_rate > 0.05")
    .unit("100%"),
    Row::new(
        "dtlb_miss_rate",
        "Default3",
        r"dTLB\-load\-misses / dTLB\-loads",
    )
    .threshold("dtlb_miss_rate > 0.05")
    .unit("100%"),
    Row::new(
        "itlb_miss_rate",
        "Default3",
        r"iTLB\-load\-misses / iTLB\-loads",
    )
    .threshold("itlb_miss_rate > 0.05")
    .unit("100%"),
    Row::new(
        "l1_prefetch_miss_rate",
        "Default4",
        r"L1\-dcache\-prefetch\-misses / L1\-dcache\-prefetches",
    )
    .threshold("l1_prefetch_miss_rate > 0.05")
    .unit("100%"),
    // Misses of a thousand instructions. perf has none of these.
    Row::new(
        "branch_mpki",
        "mpki",
        r"1e3 * branch\-misses / instructions",
    ),
    Row::new("cache_mpki", "mpki", r"1e3 * cache\-misses / instructions"),
    Row::new(
        "l1d_mpki",
        "mpki",
        r"1e3 * L1\-dcache\-load\-misses / instructions",
    ),
    Row::new(
        "dtlb_mpki",
        "mpki",
        r"1e3 * dTLB\-load\-misses / instructions",
    ),
    Row::new(
        "itlb_mpki",
        "mpki",
        r"1e3 * iTLB\-load\-misses / instructions",
    ),
    Row::new(
        "cache_miss_rate",
        "cache",
        r"cache\-misses / cache\-references",
    )
    .unit("100%"),
];
