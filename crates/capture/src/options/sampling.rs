//! The rate of samples, and the fields that a sample holds.

use std::time::Duration;

use oxperf_abi::{BranchSampleType, SampleType};
use oxperf_sys::clock::KernelClock;

use super::TracedSampling;
use crate::registers::RegisterMask;

/// The rate at which an event is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rate {
    /// So many samples a second of each counter; the kernel adapts the period.
    Frequency(u64),
    /// One sample every so many events.
    Period(u64),
}

impl Rate {
    /// The rate of a recording whose user names none: 4000 Hz.
    pub const DEFAULT: Rate = Rate::Frequency(4000);
}

/// The way to take the call chain of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallGraph {
    /// No call chain.
    Off,
    /// The kernel follows frame pointers.
    FramePointers {
        /// Most entries of a chain; `None` for the system's limit.
        max_stack: Option<u16>,
    },
    /// Every sample holds a copy of the user stack and the registers, which readers unwind.
    Dwarf {
        /// Bytes of a copy.
        stack_size: u32,
    },
    /// The CPU keeps the calls that have not returned.
    BranchRecords,
}

impl CallGraph {
    /// Bytes of a copy of the stack when nobody says otherwise.
    pub const STACK_SIZE: u32 = 8192;
    /// Most bytes of a copy: a record is not larger than 64 KiB.
    pub const LARGEST_STACK: u32 = 65528;

    /// Returns whether samples hold copies of stacks.
    pub fn copies_stacks(self) -> bool {
        matches!(self, CallGraph::Dwarf { .. })
    }
}

/// Records that a recording holds beside those that name tasks and mappings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtraRecords {
    /// Counts of each event in each thread, when it ends.
    pub thread_counts: bool,
    /// Mappings that hold data, not code.
    pub data_mappings: bool,
    /// A record whenever a thread begins or ceases to run.
    pub context_switches: bool,
    /// BPF programs that are loaded and unloaded.
    pub bpf_programs: bool,
    /// The namespaces of each task.
    pub namespaces: bool,
    /// The control groups that there are and that are made.
    pub cgroups: bool,
    /// Mappings name their file by build id, where the kernel can, and else by inode.
    pub build_ids: bool,
}

impl Default for ExtraRecords {
    fn default() -> ExtraRecords {
        ExtraRecords {
            thread_counts: false,
            data_mappings: false,
            context_switches: false,
            bpf_programs: true,
            namespaces: false,
            cgroups: false,
            build_ids: true,
        }
    }
}

/// The parts of a call chain that samples hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainParts {
    /// Callers in the kernel.
    pub kernel: bool,
    /// Callers in user space.
    pub user: bool,
    /// The kernel may hand in the user part with a later record.
    pub deferred: bool,
}

impl Default for ChainParts {
    fn default() -> ChainParts {
        ChainParts {
            kernel: true,
            user: true,
            deferred: false,
        }
    }
}

/// The sampling of a recording. An event's own terms go before these options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SamplingOptions {
    /// The rate that the user named; `None` for [`Rate::DEFAULT`].
    pub rate: Option<Rate>,
    /// `true` if a frequency above the system's limit is an error; else it is lowered.
    pub strict_rate: bool,
    /// Call chains.
    pub call_graph: CallGraph,
    /// The parts of call chains that are wanted.
    pub chain_parts: ChainParts,
    /// The branches that every sample holds; `None` for none.
    pub branches: Option<BranchSampleType>,
    /// Registers of user space in every sample.
    pub user_registers: Option<RegisterMask>,
    /// Registers of the interrupted code in every sample.
    pub interrupted_registers: Option<RegisterMask>,
    /// Fields of every sample beside those that its event and the target need.
    pub fields: SampleType,
    /// Time off the CPU: absences of this length are a sample each, shorter ones are added up. `None` for no such samples.
    pub off_cpu: Option<Duration>,
    /// Fields that no sample has, whatever its event and the target need.
    pub left_out: SampleType,
    /// The times in which events counted, beside the counts that samples hold.
    pub count_times: bool,
    /// The clock of all times; `None` for the kernel's own.
    pub clock: Option<KernelClock>,
    /// Records beside samples.
    pub records: ExtraRecords,
    /// `false` to take no samples: task and mapping records alone.
    pub takes_samples: bool,
    /// `true` to be woken by every sample.
    pub unbuffered: bool,
    /// `true` for rings that keep the newest records, whatever there is no room for.
    pub overwrite: bool,
    /// Data pages of a ring, a power of two; `None` for the system's default.
    pub ring_pages: Option<usize>,
    /// What samples have for the decoder of a trace; `None` without one.
    pub traced: Option<TracedSampling>,
}

impl Default for SamplingOptions {
    fn default() -> SamplingOptions {
        SamplingOptions {
            rate: None,
            strict_rate: false,
            call_graph: CallGraph::Off,
            chain_parts: ChainParts::default(),
            branches: None,
            user_registers: None,
            interrupted_registers: None,
            fields: SampleType::default(),
            off_cpu: None,
            left_out: SampleType::default(),
            count_times: false,
            clock: None,
            records: ExtraRecords::default(),
            takes_samples: true,
            unbuffered: false,
            overwrite: false,
            ring_pages: None,
            traced: None,
        }
    }
}
