//! The identity that records other than samples carry at their end.

use oxperf_abi::{Cpu, EventId, PerfTime, Pid, Tid};

/// Task, time, event and CPU of a record; a field is `None` when the event's sample type leaves it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleId {
    /// Process.
    pub pid: Option<Pid>,
    /// Thread.
    pub tid: Option<Tid>,
    /// Time.
    pub time: Option<PerfTime>,
    /// Event.
    pub id: Option<EventId>,
    /// The event's own id, also when inherited.
    pub stream_id: Option<u64>,
    /// CPU.
    pub cpu: Option<Cpu>,
}
