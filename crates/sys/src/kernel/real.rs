//! The kernel that runs this process.

use super::Kernel;
use crate::{
    Control, CounterRead, DataRing, EventFd, OpenError, OpenRequest, ReadError, RingError,
    RingPages, open_event,
};
use oxperf_abi::{EventId, ReadFormat};
use std::io;

/// Passes every call on to the running kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealKernel;

impl Kernel for RealKernel {
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
        open_event(request)
    }

    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()> {
        event.control(control)
    }

    fn id(&self, event: &EventFd) -> io::Result<EventId> {
        event.id()
    }

    fn read(&self, event: &EventFd, format: ReadFormat) -> Result<CounterRead, ReadError> {
        event.read(format)
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        DataRing::map(event, pages)
    }
}
