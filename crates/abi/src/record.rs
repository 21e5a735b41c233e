//! Record numbers and the flag word of record headers.

use std::fmt;

macro_rules! record_types {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        impl RecordType {
            $($(#[$doc])* pub const $name: RecordType = RecordType($value);)*

            /// The name without `PERF_RECORD_`; `None` for a type this crate does not know.
            pub fn name(self) -> Option<&'static str> {
                match self.0 { $($value => Some(stringify!($name)),)* _ => None }
            }
        }
    };
}

/// `perf_event_header.type`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordType(pub u32);

record_types! {
    /// A mapping.
    MMAP = 1;
    /// Records lost in a ring.
    LOST = 2;
    /// A thread's name.
    COMM = 3;
    /// A thread ends.
    EXIT = 4;
    /// Sampling throttled.
    THROTTLE = 5;
    /// Sampling goes on.
    UNTHROTTLE = 6;
    /// A thread begins.
    FORK = 7;
    /// Counter values of a thread.
    READ = 8;
    /// A sample.
    SAMPLE = 9;
    /// A mapping with inode or build id.
    MMAP2 = 10;
    /// AUX data became available.
    AUX = 11;
    /// Instruction trace begins.
    ITRACE_START = 12;
    /// Samples lost.
    LOST_SAMPLES = 13;
    /// Context switch of the traced task.
    SWITCH = 14;
    /// Context switch of a CPU.
    SWITCH_CPU_WIDE = 15;
    /// A thread's namespaces.
    NAMESPACES = 16;
    /// A kernel symbol comes or goes.
    KSYMBOL = 17;
    /// A BPF program comes or goes.
    BPF_EVENT = 18;
    /// A cgroup's path.
    CGROUP = 19;
    /// Kernel text changes.
    TEXT_POKE = 20;
    /// The hardware id of an AUX output.
    AUX_OUTPUT_HW_ID = 21;
    /// The user part of earlier call chains.
    CALLCHAIN_DEFERRED = 22;
    /// An event's attribute.
    HEADER_ATTR = 64;
    /// An event type's name; obsolete.
    HEADER_EVENT_TYPE = 65;
    /// Tracing data follow.
    HEADER_TRACING_DATA = 66;
    /// A build id.
    HEADER_BUILD_ID = 67;
    /// Everything before the last mark may be put in order.
    FINISHED_ROUND = 68;
    /// Ids with CPU and thread.
    ID_INDEX = 69;
    /// The way to decode AUX data.
    AUXTRACE_INFO = 70;
    /// AUX data follow.
    AUXTRACE = 71;
    /// A decoder's error.
    AUXTRACE_ERROR = 72;
    /// The threads.
    THREAD_MAP = 73;
    /// The CPUs.
    CPU_MAP = 74;
    /// The configuration of `perf stat`.
    STAT_CONFIG = 75;
    /// A counter's values.
    STAT = 76;
    /// A round of counts ends.
    STAT_ROUND = 77;
    /// More about an event.
    EVENT_UPDATE = 78;
    /// TSC to time.
    TIME_CONV = 79;
    /// A header feature, in a pipe.
    HEADER_FEATURE = 80;
    /// Compressed records.
    COMPRESSED = 81;
    /// Synthesized records end.
    FINISHED_INIT = 82;
    /// Compressed records, padded.
    COMPRESSED2 = 83;
    /// Metadata of a BPF program.
    BPF_METADATA = 84;
    /// Scheduler statistics of a CPU.
    SCHEDSTAT_CPU = 85;
    /// Scheduler statistics of a domain.
    SCHEDSTAT_DOMAIN = 86;
    /// The kernel's symbols, of simpleperf.
    SIMPLEPERF_KERNEL_SYMBOL = 32769;
    /// A binary, of simpleperf.
    SIMPLEPERF_DSO = 32770;
    /// A symbol, of simpleperf.
    SIMPLEPERF_SYMBOL = 32771;
    /// A piece of a long record, of simpleperf.
    SIMPLEPERF_SPLIT = 32772;
    /// The end of the pieces, of simpleperf.
    SIMPLEPERF_SPLIT_END = 32773;
    /// Ids of events, of simpleperf.
    SIMPLEPERF_EVENT_ID = 32774;
    /// A call chain, of simpleperf.
    SIMPLEPERF_CALLCHAIN = 32775;
    /// The result of unwinding a stack, of simpleperf.
    SIMPLEPERF_UNWINDING_RESULT = 32776;
    /// Formats of tracepoints, of simpleperf.
    SIMPLEPERF_TRACING_DATA = 32777;
    /// A message, of simpleperf.
    SIMPLEPERF_DEBUG = 32778;
}

impl RecordType {
    /// Records from here on are written by tools, not by the kernel.
    pub const FIRST_USER: u32 = 64;

    /// Returns whether a tool wrote the record.
    #[inline]
    pub const fn is_user(self) -> bool {
        self.0 >= Self::FIRST_USER
    }

    /// Returns whether it is simpleperf's own; such a record has a size of 32 bits and no flags.
    pub const fn is_simpleperf(self) -> bool {
        self.0 >= Self::SIMPLEPERF_KERNEL_SYMBOL.0
    }
}

impl fmt::Debug for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "RecordType({})", self.0),
        }
    }
}

/// `perf_event_header.misc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Misc(pub u16);

impl Misc {
    /// MMAP, MMAP2: a data mapping.
    pub const MMAP_DATA: u16 = 1 << 13;
    /// COMM: the name comes from an exec.
    pub const COMM_EXEC: u16 = 1 << 13;
    /// FORK: synthesized before an exec; maps are not inherited.
    pub const FORK_EXEC: u16 = 1 << 13;
    /// SWITCH: out, not in.
    pub const SWITCH_OUT: u16 = 1 << 13;
    /// SWITCH: out, preempted.
    pub const SWITCH_OUT_PREEMPT: u16 = 1 << 14;
    /// SAMPLE: the instruction pointer is exact.
    pub const EXACT_IP: u16 = 1 << 14;
    /// MMAP2: holds a build id.
    pub const MMAP_BUILD_ID: u16 = 1 << 14;
    /// MMAP, MMAP2: the maps were not read to the end in time.
    pub const PROC_MAP_PARSE_TIMEOUT: u16 = 1 << 12;
    /// LOST_SAMPLES: a BPF filter dropped them.
    pub const LOST_SAMPLES_BPF: u16 = 1 << 15;
    /// HEADER_BUILD_ID: the size byte holds.
    pub const BUILD_ID_SIZE: u16 = 1 << 15;

    /// Returns whether all bits of `mask` are set.
    #[inline]
    pub const fn has(self, mask: u16) -> bool {
        self.0 & mask == mask
    }

    /// The mode of the CPU.
    #[inline]
    pub const fn cpu_mode(self) -> CpuMode {
        match self.0 & 7 {
            1 => CpuMode::Kernel,
            2 => CpuMode::User,
            3 => CpuMode::Hypervisor,
            4 => CpuMode::GuestKernel,
            5 => CpuMode::GuestUser,
            _ => CpuMode::Unknown,
        }
    }
}

/// The first address of the kernel, on x86 and on 64-bit Arm: addresses from here on are its own.
pub const KERNEL_START: u64 = 1 << 63;

/// The world that an address belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
#[repr(u8)]
pub enum CpuMode {
    /// Not said.
    #[default]
    Unknown = 0,
    /// Host kernel.
    Kernel = 1,
    /// Host user.
    User = 2,
    /// Hypervisor.
    Hypervisor = 3,
    /// Guest kernel.
    GuestKernel = 4,
    /// Guest user.
    GuestUser = 5,
}
