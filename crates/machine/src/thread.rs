//! Threads and the address spaces they share.

use oxperf_abi::{Pid, Tid};

use crate::CommId;

/// The number of a thread in its machine; a thread id that is used again gets a new number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

/// The number of an address space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SpaceId(pub(crate) u32);

/// One thread.
#[derive(Clone, Copy, Debug)]
pub struct Thread {
    /// Process; `None` while no record has said it.
    pub pid: Option<Pid>,
    /// Thread.
    pub tid: Tid,
    /// The thread that made it; `None` while no record has said it.
    pub parent: Option<Tid>,
    /// Its name now.
    pub comm: CommId,
    /// True if the name was recorded, not made up.
    pub named: bool,
    pub(crate) space: SpaceId,
}
