//! The threads that move records from the rings, and the CPUs on which they run.

use oxperf_abi::Cpu;

/// Whoever drains the rings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Draining {
    /// The recorder's own thread drains all of them into one output.
    Alone(ReaderAffinity),
    /// Several threads, each ring into a file of its own in a directory.
    Threads(ThreadLayout),
}

impl Default for Draining {
    fn default() -> Draining {
        Draining::Alone(ReaderAffinity::System)
    }
}

/// The CPUs on which the recorder's own thread runs while it drains a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReaderAffinity {
    /// Those that the system chooses.
    #[default]
    System,
    /// Those of the node of the ring's CPU.
    Node,
    /// The ring's CPU.
    Cpu,
}

/// The share of each thread that drains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ThreadLayout {
    /// A thread for each CPU, which runs there.
    Cpu,
    /// A thread for each core, for its CPUs and on them.
    Core,
    /// A thread for each package.
    Package,
    /// A thread for each NUMA node.
    Node,
    /// These threads.
    Stated(Vec<ThreadMasks>),
}

/// A thread that drains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadMasks {
    /// The CPUs whose rings it drains.
    pub drains: Vec<Cpu>,
    /// The CPUs on which it runs.
    pub runs_on: Vec<Cpu>,
}
