//! The kernel as a replaceable table of calls.
//!
//! The plan of a recorder (which events on which tasks and CPUs, what is dropped when one is refused) is code worth
//! testing on machines without counters; it is written against [`Kernel`].

mod fake;
mod logging;
mod real;

pub use fake::{
    FakeCall, FakeCount, FakeKernel, FakeOverflow, FakePmu, FakeTraceCount, OpenedEvent, OpenedTask,
};
pub use logging::{LoggingKernel, OpenLogError};
pub use real::RealKernel;

use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, CounterPage,
    CounterRead, DataRing, EventFd, Notification, OpenError, OpenRequest, ReadError, RingError,
    RingPages,
};
use oxperf_abi::EventId;
use std::io;

/// A change to all events that the calling thread has opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnEvents {
    /// All of them count (`PR_TASK_PERF_EVENTS_ENABLE`).
    Enable,
    /// None of them counts (`PR_TASK_PERF_EVENTS_DISABLE`).
    Disable,
}

/// The calls of a recorder that a test may want to answer itself.
pub trait Kernel: Sync {
    /// Opens an event.
    ///
    /// # Errors
    /// The reason of the refusal.
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError>;

    /// Changes an open event.
    ///
    /// # Errors
    /// The kernel's answer.
    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()>;

    /// Enables or disables all events that the calling thread has opened, with one call: members of groups and events of
    /// other tasks among them. Those that others opened for this thread stay as they are.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` where it has no performance events.
    fn control_own_events(&self, change: OwnEvents) -> io::Result<()>;

    /// The id that samples of the event carry.
    ///
    /// # Errors
    /// The kernel's answer.
    fn id(&self, event: &EventFd) -> io::Result<EventId>;

    /// The BPF programs at the event's tracepoint or probe.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` for an event that is neither.
    fn bpf_programs(&self, event: &EventFd) -> io::Result<Vec<BpfProgramId>>;

    /// Reads a counter or its group. Never waits.
    ///
    /// # Errors
    /// The kernel's answer, a pinned event without its counter, or too few bytes.
    fn read(&self, event: &EventFd) -> Result<CounterRead, ReadError>;

    /// Sends a signal at each overflow that wakes somebody, or none any more.
    ///
    /// # Errors
    /// The kernel's answer.
    fn notify(&self, event: &EventFd, notification: Option<Notification>) -> io::Result<()>;

    /// Makes an event's descriptor a blocking one, or not.
    ///
    /// # Errors
    /// The kernel's answer.
    fn set_blocking(&self, event: &EventFd, blocking: bool) -> io::Result<()>;

    /// Maps the page of an event that has no ring, to read its counter without a call.
    ///
    /// # Errors
    /// The reason of the refusal.
    fn map_counter_page(&self, event: &EventFd) -> Result<CounterPage, RingError>;

    /// Maps an event's ring of records.
    ///
    /// # Errors
    /// The reason of the refusal.
    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError>;

    /// Maps the ring of an event that keeps the newest records (`write_backward`).
    ///
    /// # Errors
    /// The reason of the refusal.
    fn map_backward_ring(
        &self,
        event: &EventFd,
        pages: RingPages,
    ) -> Result<BackwardRing, RingError>;

    /// Maps an event's ring of records and its AUX area, whose whole trace is read.
    ///
    /// # Errors
    /// The reason of the refusal: `EINVAL` or `EOPNOTSUPP` where the event has no trace.
    fn map_aux(&self, event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError>;

    /// Maps an event's ring of records and its AUX area, which keeps the newest trace for snapshots.
    ///
    /// # Errors
    /// As [`Kernel::map_aux`].
    fn map_aux_snapshot(
        &self,
        event: &EventFd,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError>;
}
