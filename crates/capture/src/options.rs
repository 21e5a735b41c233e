//! What the user asks of a recording, as values.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use oxperf_abi::{Cpu, Pid, Tid};

use crate::registers::RegisterMask;

/// How often an event is sampled.
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

/// Whose events are recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The program that the recorder starts, and its children.
    Workload,
    /// Everything on every CPU.
    AllCpus,
    /// Everything on these CPUs.
    Cpus(Vec<Cpu>),
    /// Existing processes with all their threads, and their children.
    Processes(Vec<Pid>),
    /// Existing threads alone.
    Threads(Vec<Tid>),
}

impl Target {
    /// Whether CPUs are watched, whoever runs on them.
    pub fn is_cpu_wide(&self) -> bool {
        matches!(self, Target::AllCpus | Target::Cpus(_))
    }

    /// Whether the new tasks of a target task are to be counted when nobody says otherwise.
    pub fn inherits(&self) -> bool {
        matches!(self, Target::Workload | Target::Processes(_))
    }
}

/// Whether and how the call chain of a sample is taken.
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
}

/// Which privilege levels are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privilege {
    /// What each event says itself.
    AsEventSays,
    /// User mode alone.
    UserOnly,
    /// Kernel mode alone.
    KernelOnly,
}

/// Which binaries the build-id table of the finished file lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildIds {
    /// No table.
    Off,
    /// Those with a sample, or a call chain entry, in them.
    Hit,
    /// All that were mapped executable.
    All,
}

/// When counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// With the workload's exec, or at once.
    Now,
    /// So long after the start of the workload.
    After(Duration),
    /// Never by itself.
    Disabled,
}

/// Where a recording goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destination {
    /// A file of this name; one that exists and is not empty is renamed to `.old`.
    File(PathBuf),
    /// Standard output, as a stream that can be read while it grows. What the workload prints goes to standard error.
    StandardOutput,
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::File(path) => write!(f, "{}", path.display()),
            Destination::StandardOutput => f.write_str("-"),
        }
    }
}

/// A program to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name, then its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where a name without a slash is looked for: the value of `PATH`.
    pub search_path: Option<OsString>,
}

/// All that a recording is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordOptions {
    /// Whose events.
    pub target: Target,
    /// The program to start; the recording ends with it.
    pub workload: Option<Program>,
    /// The rate that the user named; `None` for [`Rate::DEFAULT`].
    pub rate: Option<Rate>,
    /// Call chains.
    pub call_graph: CallGraph,
    /// Registers of user space in every sample.
    pub user_registers: Option<RegisterMask>,
    /// Registers of the interrupted code in every sample.
    pub interrupted_registers: Option<RegisterMask>,
    /// Whether children are counted too.
    pub inherit: bool,
    /// One ring a thread, not one a CPU.
    pub per_thread: bool,
    /// Data pages of a ring, a power of two; `None` for the system's default.
    pub ring_pages: Option<usize>,
    /// Privilege levels.
    pub privilege: Privilege,
    /// The build-id table.
    pub build_ids: BuildIds,
    /// When counting begins.
    pub start: Start,
    /// Where the recording goes.
    pub output: Destination,
    /// How much the records are compressed, from 1 to 22; `None` leaves them as they are.
    pub compression: Option<u32>,
    /// The command line of this recording, program first, kept in the file's header.
    pub command_line: Vec<String>,
}

impl RecordOptions {
    /// Whether events follow their task over the CPUs; recording whole CPUs overrides that.
    pub fn follows_tasks(&self) -> bool {
        self.per_thread && !self.target.is_cpu_wide()
    }
}

impl Default for RecordOptions {
    fn default() -> RecordOptions {
        RecordOptions {
            target: Target::Workload,
            workload: None,
            rate: None,
            call_graph: CallGraph::Off,
            user_registers: None,
            interrupted_registers: None,
            inherit: true,
            per_thread: false,
            ring_pages: None,
            privilege: Privilege::AsEventSays,
            build_ids: BuildIds::Hit,
            start: Start::Now,
            output: Destination::File(PathBuf::from("perf.data")),
            compression: None,
            command_line: Vec::new(),
        }
    }
}
