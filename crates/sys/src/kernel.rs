//! The kernel as a replaceable table of calls.
//!
//! A recorder's plan (which events on which tasks and CPUs, what is dropped when one is refused) is code worth
//! testing on machines without counters; it is written against [`Kernel`].

mod fake;
mod real;

pub use fake::{FakeCall, FakeKernel, OpenedEvent, OpenedTask};
pub use real::RealKernel;

use crate::{
    Control, CounterRead, DataRing, EventFd, OpenError, OpenRequest, ReadError, RingError,
    RingPages,
};
use oxperf_abi::{EventId, ReadFormat};
use std::io;

/// The calls of a recorder that a test may want to answer itself.
pub trait Kernel: Sync {
    /// Opens an event.
    ///
    /// # Errors
    /// Why it was refused.
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError>;

    /// Changes an open event.
    ///
    /// # Errors
    /// The kernel's answer.
    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()>;

    /// The id that samples of the event carry.
    ///
    /// # Errors
    /// The kernel's answer.
    fn id(&self, event: &EventFd) -> io::Result<EventId>;

    /// Reads a counter or its group.
    ///
    /// # Errors
    /// The kernel's answer, or too few bytes.
    fn read(&self, event: &EventFd, format: ReadFormat) -> Result<CounterRead, ReadError>;

    /// Maps an event's ring.
    ///
    /// # Errors
    /// Why it was refused.
    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError>;
}
