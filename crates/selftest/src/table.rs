//! The table of checks, in the order of their numbers.

use crate::checks::{
    breakpoints, build, counters, kernel, parsing, permissions, recordings, rings, symbols, trace,
    tracepoints,
};
use crate::{Body, Check, Part, SelfTest};

const TRACEPOINTS: &str =
    "run as root, or mount tracefs readable: mount -o remount,mode=755 /sys/kernel/tracing";
const PARANOID: &str = "sysctl kernel.perf_event_paranoid=-1, or give the program CAP_PERFMON";
const HARDWARE: &str = "a virtual machine needs a virtual PMU (of libvirt: <pmu state='on'/>, of QEMU: -cpu host); in its \
                        absence record -e task-clock";
const DEFECT: &str = "a defect of this program or kernel: report it with the output of -vv";
const BREAKPOINTS: &str =
    "hardware breakpoints are taken or hidden: end debuggers, or use a machine that has them";
const SYMBOLS: &str = "use a build that is not stripped";
const RECORDS: &str = "a newer kernel has them; recordings go on without";

const fn whole(number: u32, name: &'static str, check: Check, remedy: &'static str) -> SelfTest {
    SelfTest {
        number,
        name,
        remedy,
        body: Body::Whole(check),
    }
}

const fn parts(
    number: u32,
    name: &'static str,
    parts: &'static [Part],
    remedy: &'static str,
) -> SelfTest {
    SelfTest {
        number,
        name,
        remedy,
        body: Body::Parts(parts),
    }
}

const fn part(name: &'static str, check: Check) -> Part {
    Part { name, check }
}

/// All checks, in the order of their numbers.
pub static ALL: &[SelfTest] = &[
    whole(
        1,
        "vmlinux symtab matches kallsyms",
        kernel::image_matches,
        "install the debug package of the running kernel",
    ),
    whole(
        2,
        "Detect openat syscall event",
        tracepoints::openat,
        TRACEPOINTS,
    ),
    whole(
        3,
        "Detect openat syscall event on all cpus",
        tracepoints::openat_on_cpus,
        TRACEPOINTS,
    ),
    parts(
        5,
        "Parse event definition strings",
        &[
            part("Test event parsing", parsing::event_texts),
            part(
                "Parsing of all PMU events from sysfs",
                parsing::sysfs_events,
            ),
            part("Parsing of terms (event modifiers)", parsing::terms),
        ],
        DEFECT,
    ),
    whole(
        8,
        "PERF_RECORD_* events & perf_sample fields",
        rings::records_and_fields,
        PARANOID,
    ),
    parts(
        9,
        "Sysfs PMU tests",
        &[part(
            "Parsing with PMU format directory",
            parsing::sysfs_formats,
        )],
        DEFECT,
    ),
    whole(14, "Roundtrip evsel->name", parsing::round_trip, DEFECT),
    whole(
        15,
        "Parse sched tracepoints fields",
        tracepoints::sched_fields,
        TRACEPOINTS,
    ),
    whole(
        16,
        "syscalls:sys_enter_openat event fields",
        tracepoints::openat_fields,
        TRACEPOINTS,
    ),
    whole(
        19,
        "Breakpoint overflow sampling",
        breakpoints::overflow_sampling,
        BREAKPOINTS,
    ),
    whole(
        20,
        "Breakpoint accounting",
        breakpoints::accounting,
        BREAKPOINTS,
    ),
    parts(
        21,
        "Watchpoint",
        &[
            part("Read Only Watchpoint", breakpoints::read_only),
            part("Write Only Watchpoint", breakpoints::write_only),
            part("Read / Write Watchpoint", breakpoints::read_write),
        ],
        BREAKPOINTS,
    ),
    whole(
        22,
        "Software clock events period values",
        counters::clock_periods,
        PARANOID,
    ),
    whole(23, "Object code reading", build::object_code, DEFECT),
    whole(
        25,
        "Use a dummy software event to keep tracking",
        rings::dummy_tracking,
        PARANOID,
    ),
    whole(
        36,
        "Session topology",
        kernel::topology,
        "a machine or container without CPU topology in sysfs",
    ),
    whole(44, "Event times", counters::event_times, PARANOID),
    whole(
        45,
        "Read backward ring buffer",
        rings::backward_ring,
        PARANOID,
    ),
    whole(59, "Demangle Rust", parsing::rust_names, DEFECT),
    parts(
        63,
        "Convert perf time to TSC",
        &[part("TSC support", rings::time_conversion)],
        "a processor whose cycle counter runs at one rate",
    ),
    whole(66, "Event groups", counters::groups, PARANOID),
    whole(
        67,
        "Symbols",
        symbols::listed,
        "name an object that exists (--dso), and one that is not stripped",
    ),
    whole(71, "Test dwarf unwind", recordings::unwound_stacks, SYMBOLS),
    parts(
        72,
        "Intel PT",
        &[part("Intel PT packet decoder", trace::packets)],
        DEFECT,
    ),
    whole(
        77,
        "build id cache operations",
        recordings::build_id_cache,
        DEFECT,
    ),
    whole(
        89,
        "Zstd perf.data compression/decompression",
        recordings::compression,
        DEFECT,
    ),
    parts(
        112,
        "mmap interface tests",
        &[part(
            "Read samples using the mmap interface",
            rings::tracepoint_samples,
        )],
        TRACEPOINTS,
    ),
    whole(
        113,
        "Number of exit events of a simple workload",
        rings::exit_events,
        PARANOID,
    ),
    whole(
        201,
        "Own threads may be measured",
        permissions::own_threads,
        "sysctl kernel.perf_event_paranoid=2, and a seccomp profile that allows perf_event_open (containers)",
    ),
    whole(
        202,
        "Kernel mode may be measured",
        permissions::kernel_mode,
        "sysctl kernel.perf_event_paranoid=1, or give the program CAP_PERFMON",
    ),
    whole(
        203,
        "Everything on a CPU may be measured",
        permissions::whole_cpus,
        "sysctl kernel.perf_event_paranoid=0, or give the program CAP_PERFMON",
    ),
    whole(
        204,
        "Addresses of the kernel",
        kernel::addresses,
        "sysctl kernel.kptr_restrict=0, or give the program CAP_SYSLOG",
    ),
    whole(
        205,
        "Rings of the usual size for each CPU",
        permissions::ring_sizes,
        "sysctl kernel.perf_event_mlock_kb=N, a higher ulimit -l, or record -m with fewer pages",
    ),
    whole(
        206,
        "Usual sample rate",
        permissions::sample_rate,
        "sysctl kernel.perf_event_max_sample_rate=100000, or record -F with less",
    ),
    whole(
        207,
        "Usual depth of call chains",
        permissions::stack_depth,
        "sysctl kernel.perf_event_max_stack=127",
    ),
    whole(
        208,
        "Open files for each CPU",
        permissions::open_files,
        "ulimit -n with more",
    ),
    whole(
        209,
        "tracefs can be read",
        tracepoints::tracefs,
        TRACEPOINTS,
    ),
    whole(
        210,
        "Formats of all tracepoints",
        tracepoints::formats,
        TRACEPOINTS,
    ),
    parts(
        211,
        "Hardware counters",
        &[
            part("cycles", counters::cycles),
            part("instructions", counters::instructions),
            part("branches", counters::branches),
            part("branch-misses", counters::branch_misses),
            part("cache-references", counters::cache_references),
            part("cache-misses", counters::cache_misses),
            part("L1-dcache-loads", counters::l1_loads),
        ],
        HARDWARE,
    ),
    parts(
        212,
        "Software counters",
        &[
            part("task-clock", counters::task_clock),
            part("cpu-clock", counters::cpu_clock),
            part("page-faults", counters::page_faults),
            part("context-switches", counters::context_switches),
            part("cpu-migrations", counters::migrations),
        ],
        PARANOID,
    ),
    parts(
        213,
        "Kinds of records that the kernel knows",
        &[
            part("exec and rename apart", rings::comm_exec),
            part("namespaces", rings::namespaces),
            part("cgroups", rings::cgroup_records),
            part("kernel functions that come and go", rings::kernel_symbols),
            part("BPF programs", rings::bpf_programs),
            part("changes of kernel text", rings::text_pokes),
            part("build ids of mappings", rings::build_ids),
        ],
        RECORDS,
    ),
    whole(214, "Records of mappings", rings::mappings, PARANOID),
    whole(
        215,
        "Records of context switches",
        rings::switches,
        PARANOID,
    ),
    whole(216, "Call chains", rings::call_chains, DEFECT),
    whole(
        217,
        "Registers and copies of the stack",
        rings::user_stacks,
        DEFECT,
    ),
    whole(218, "Clocks of samples", rings::clocks, DEFECT),
    whole(
        219,
        "Events of a cgroup",
        counters::cgroups,
        "run as root on a kernel with CONFIG_CGROUP_PERF",
    ),
    whole(
        220,
        "Probes of user and kernel code",
        parsing::probe_pmus,
        "a kernel with CONFIG_KPROBE_EVENTS and CONFIG_UPROBE_EVENTS",
    ),
    whole(221, "CPU lists of this machine", kernel::cpu_lists, DEFECT),
    whole(
        222,
        "Build id of the kernel",
        kernel::build_id,
        "mount sysfs; a kernel with a build id",
    ),
    whole(
        223,
        "Build id of this program",
        build::build_id,
        "link with --build-id",
    ),
    whole(
        224,
        "Functions of the workloads",
        build::workload_symbols,
        SYMBOLS,
    ),
    whole(
        225,
        "Lines of inlined functions",
        build::inlined_lines,
        "use a build with debug information",
    ),
    whole(226, "Demangle C++", parsing::cpp_names, DEFECT),
    whole(227, "Recording of a workload", recordings::workload, DEFECT),
    whole(228, "Recording of threads", recordings::threads, DEFECT),
    whole(229, "Recording through a pipe", recordings::pipe, DEFECT),
    whole(230, "Report of a recording", recordings::report, DEFECT),
    whole(231, "Damage of a recording", recordings::damage, DEFECT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ascend_and_names_differ() {
        assert!(ALL.windows(2).all(|pair| pair[0].number < pair[1].number));
        let mut names: Vec<&str> = ALL.iter().map(|test| test.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
