//! Event types and the generic ids.

use std::fmt;

/// `perf_event_attr.type`: a fixed type or the number of a PMU in sysfs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct EventType(pub u32);

impl EventType {
    /// Generic hardware events.
    pub const HARDWARE: EventType = EventType(0);
    /// Kernel software events.
    pub const SOFTWARE: EventType = EventType(1);
    /// Tracepoints; config is the tracepoint's id.
    pub const TRACEPOINT: EventType = EventType(2);
    /// Generic cache events.
    pub const HW_CACHE: EventType = EventType(3);
    /// CPU-specific codes.
    pub const RAW: EventType = EventType(4);
    /// Hardware breakpoints.
    pub const BREAKPOINT: EventType = EventType(5);
    /// No event of the kernel's: tools make its samples of hardware trace.
    pub const SYNTHETIC: EventType = EventType(0x8000_0000);

    /// The kernel's constant name of a fixed type.
    pub fn constant_name(self) -> Option<&'static str> {
        const NAMES: [&str; 6] = [
            "PERF_TYPE_HARDWARE",
            "PERF_TYPE_SOFTWARE",
            "PERF_TYPE_TRACEPOINT",
            "PERF_TYPE_HW_CACHE",
            "PERF_TYPE_RAW",
            "PERF_TYPE_BREAKPOINT",
        ];
        NAMES.get(self.0 as usize).copied()
    }
}

impl fmt::Debug for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.constant_name() {
            Some(name) => f.write_str(name),
            None => write!(f, "EventType({})", self.0),
        }
    }
}

macro_rules! generic_ids {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $constant:expr, [$($text:expr),+];)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(u64)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every id, in the kernel's order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The id with this config value.
            pub fn from_config(config: u64) -> Option<$name> {
                Self::ALL.get(usize::try_from(config).ok()?).copied()
            }

            /// perf's names for it, the usual one first.
            pub fn names(self) -> &'static [&'static str] {
                match self { $($name::$variant => &[$($text),+],)* }
            }

            /// The kernel's constant name.
            pub fn constant_name(self) -> &'static str {
                match self { $($name::$variant => $constant,)* }
            }
        }
    };
}

generic_ids! {
    /// Generic hardware events.
    HardwareId {
        /// Core cycles.
        CpuCycles = "PERF_COUNT_HW_CPU_CYCLES", ["cycles", "cpu-cycles"];
        /// Retired instructions.
        Instructions = "PERF_COUNT_HW_INSTRUCTIONS", ["instructions"];
        /// Last-level cache accesses.
        CacheReferences = "PERF_COUNT_HW_CACHE_REFERENCES", ["cache-references"];
        /// Last-level cache misses.
        CacheMisses = "PERF_COUNT_HW_CACHE_MISSES", ["cache-misses"];
        /// Retired branches.
        BranchInstructions = "PERF_COUNT_HW_BRANCH_INSTRUCTIONS", ["branches", "branch-instructions"];
        /// Mispredicted branches.
        BranchMisses = "PERF_COUNT_HW_BRANCH_MISSES", ["branch-misses"];
        /// Bus cycles.
        BusCycles = "PERF_COUNT_HW_BUS_CYCLES", ["bus-cycles"];
        /// Cycles without issue for want of instructions.
        StalledCyclesFrontend = "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND", ["stalled-cycles-frontend", "idle-cycles-frontend"];
        /// Cycles without issue for want of results.
        StalledCyclesBackend = "PERF_COUNT_HW_STALLED_CYCLES_BACKEND", ["stalled-cycles-backend", "idle-cycles-backend"];
        /// Cycles at the reference frequency.
        RefCpuCycles = "PERF_COUNT_HW_REF_CPU_CYCLES", ["ref-cycles"];
    }
}

generic_ids! {
    /// Kernel software events.
    SoftwareId {
        /// Wall time on a CPU, ns.
        CpuClock = "PERF_COUNT_SW_CPU_CLOCK", ["cpu-clock"];
        /// Time a task ran, ns.
        TaskClock = "PERF_COUNT_SW_TASK_CLOCK", ["task-clock"];
        /// Page faults.
        PageFaults = "PERF_COUNT_SW_PAGE_FAULTS", ["page-faults", "faults"];
        /// Context switches.
        ContextSwitches = "PERF_COUNT_SW_CONTEXT_SWITCHES", ["context-switches", "cs"];
        /// Moves to another CPU.
        CpuMigrations = "PERF_COUNT_SW_CPU_MIGRATIONS", ["cpu-migrations", "migrations"];
        /// Page faults without I/O.
        PageFaultsMin = "PERF_COUNT_SW_PAGE_FAULTS_MIN", ["minor-faults"];
        /// Page faults with I/O.
        PageFaultsMaj = "PERF_COUNT_SW_PAGE_FAULTS_MAJ", ["major-faults"];
        /// Unaligned accesses that the kernel mended.
        AlignmentFaults = "PERF_COUNT_SW_ALIGNMENT_FAULTS", ["alignment-faults"];
        /// Instructions that the kernel emulated.
        EmulationFaults = "PERF_COUNT_SW_EMULATION_FAULTS", ["emulation-faults"];
        /// Counts nothing; carries sideband records.
        Dummy = "PERF_COUNT_SW_DUMMY", ["dummy"];
        /// Output of BPF programs.
        BpfOutput = "PERF_COUNT_SW_BPF_OUTPUT", ["bpf-output"];
        /// Switches between cgroups.
        CgroupSwitches = "PERF_COUNT_SW_CGROUP_SWITCHES", ["cgroup-switches"];
    }
}

generic_ids! {
    /// The cache of a cache event: config bits 0 to 7.
    CacheId {
        /// First-level data cache.
        L1d = "PERF_COUNT_HW_CACHE_L1D", ["L1-dcache", "l1-d", "l1d", "L1-data"];
        /// First-level instruction cache.
        L1i = "PERF_COUNT_HW_CACHE_L1I", ["L1-icache", "l1-i", "l1i", "L1-instruction"];
        /// Last-level cache.
        Ll = "PERF_COUNT_HW_CACHE_LL", ["LLC", "L2"];
        /// Data TLB.
        Dtlb = "PERF_COUNT_HW_CACHE_DTLB", ["dTLB", "d-tlb", "Data-TLB"];
        /// Instruction TLB.
        Itlb = "PERF_COUNT_HW_CACHE_ITLB", ["iTLB", "i-tlb", "Instruction-TLB"];
        /// Branch predictor.
        Bpu = "PERF_COUNT_HW_CACHE_BPU", ["branch", "branches", "bpu", "btb", "bpc"];
        /// Memory of a node.
        Node = "PERF_COUNT_HW_CACHE_NODE", ["node"];
    }
}

generic_ids! {
    /// The access of a cache event: config bits 8 to 15.
    CacheOp {
        /// Loads.
        Read = "PERF_COUNT_HW_CACHE_OP_READ", ["load", "loads", "read"];
        /// Stores.
        Write = "PERF_COUNT_HW_CACHE_OP_WRITE", ["store", "stores", "write"];
        /// Prefetches.
        Prefetch = "PERF_COUNT_HW_CACHE_OP_PREFETCH", ["prefetch", "prefetches", "speculative-read", "speculative-load"];
    }
}

generic_ids! {
    /// The outcome of a cache event: config bits 16 to 23.
    CacheResult {
        /// All accesses.
        Access = "PERF_COUNT_HW_CACHE_RESULT_ACCESS", ["refs", "Reference", "ops", "access"];
        /// Misses.
        Miss = "PERF_COUNT_HW_CACHE_RESULT_MISS", ["misses", "miss"];
    }
}
