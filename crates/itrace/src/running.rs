//! The task that runs while trace is decoded.

use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_machine::ThreadId;

/// The task that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Running {
    /// Its process; -1, as in perf's records, if that is not known.
    pub(crate) pid: Pid,
    /// Its thread; -1 if that is not known.
    pub(crate) tid: Tid,
    pub(crate) cpu: Option<Cpu>,
    /// The machine's thread; `None` before any record has named it.
    pub(crate) thread: Option<ThreadId>,
}
