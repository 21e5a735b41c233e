//! Whose events are counted or sampled, and from which moment on.

use std::ffi::OsString;
use std::time::Duration;

use oxperf_abi::{AttrFlags, Cpu, Pid, Tid};

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
    /// Returns whether CPUs are watched, whoever runs on them.
    pub fn is_cpu_wide(&self) -> bool {
        matches!(self, Target::AllCpus | Target::Cpus(_))
    }

    /// Returns whether it names tasks that exist.
    pub fn is_named(&self) -> bool {
        matches!(self, Target::Processes(_) | Target::Threads(_))
    }

    /// Returns whether the new tasks of a target task are sampled when nobody says otherwise.
    pub fn inherits(&self) -> bool {
        matches!(self, Target::Workload | Target::Processes(_))
    }
}

/// The privilege levels that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privilege {
    /// Those that each event names itself.
    AsEventSays,
    /// User mode alone.
    UserOnly,
    /// Kernel mode alone.
    KernelOnly,
}

impl Privilege {
    /// Excludes the modes that are not counted.
    pub(crate) fn apply(self, flags: &mut AttrFlags) {
        let user_only = match self {
            Privilege::AsEventSays => return,
            Privilege::UserOnly => true,
            Privilege::KernelOnly => false,
        };
        flags.set(AttrFlags::EXCLUDE_KERNEL, user_only);
        flags.set(AttrFlags::EXCLUDE_USER, !user_only);
    }
}

/// The moment when counting begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// With the workload's exec, or at once.
    Now,
    /// So long after the start of the workload.
    After(Duration),
    /// Never by itself.
    Disabled,
}

/// A program to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name, then its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folders to search for a name without a slash: the value of `PATH`.
    pub search_path: Option<OsString>,
}

/// The target of a measurement, whatever is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetOptions {
    /// Whose events.
    pub target: Target,
    /// The program to start; the measurement ends with it.
    pub workload: Option<Program>,
    /// `true` if children of the target count too.
    pub inherit: bool,
    /// `true` if events follow their task over the CPUs.
    pub per_thread: bool,
    /// Privilege levels.
    pub privilege: Privilege,
    /// The moment when counting begins.
    pub start: Start,
}

impl TargetOptions {
    /// Returns whether events follow their task over the CPUs; a target of whole CPUs overrides that.
    pub fn follows_tasks(&self) -> bool {
        self.per_thread && !self.target.is_cpu_wide()
    }

    /// Returns whether the kernel starts the counting with the workload's exec.
    pub fn starts_on_exec(&self) -> bool {
        self.target == Target::Workload && self.start == Start::Now
    }
}

impl Default for TargetOptions {
    fn default() -> TargetOptions {
        TargetOptions {
            target: Target::Workload,
            workload: None,
            inherit: true,
            per_thread: false,
            privilege: Privilege::AsEventSays,
            start: Start::Now,
        }
    }
}
