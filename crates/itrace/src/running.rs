//! Who runs.

use oxperf_abi::{Cpu, Pid, Tid};
use oxperf_machine::ThreadId;

/// Who runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Running {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) cpu: Option<Cpu>,
    /// `None` when no record has told of the thread.
    pub(crate) thread: Option<ThreadId>,
}
