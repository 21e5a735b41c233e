//! The kernel that runs this process.

use super::{Kernel, OwnEvents};
use crate::errno::check;
use crate::open::open_event;
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, CounterPage,
    CounterRead, DataRing, EventFd, Notification, OpenError, OpenRequest, ReadError, RingError,
    RingPages, ring,
};
use oxperf_abi::EventId;
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

    fn control_own_events(&self, change: OwnEvents) -> io::Result<()> {
        let operation = match change {
            OwnEvents::Enable => libc::PR_TASK_PERF_EVENTS_ENABLE,
            OwnEvents::Disable => libc::PR_TASK_PERF_EVENTS_DISABLE,
        };
        // SAFETY: these operations take no argument.
        check(unsafe { libc::prctl(operation) }).map(drop)
    }

    fn id(&self, event: &EventFd) -> io::Result<EventId> {
        event.id()
    }

    fn bpf_programs(&self, event: &EventFd) -> io::Result<Vec<BpfProgramId>> {
        event.bpf_programs()
    }

    fn read(&self, event: &EventFd) -> Result<CounterRead, ReadError> {
        event.read()
    }

    fn notify(&self, event: &EventFd, notification: Option<Notification>) -> io::Result<()> {
        event.notify(notification)
    }

    fn set_blocking(&self, event: &EventFd, blocking: bool) -> io::Result<()> {
        event.set_blocking(blocking)
    }

    fn map_counter_page(&self, event: &EventFd) -> Result<CounterPage, RingError> {
        CounterPage::map(event)
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        DataRing::map(event, pages)
    }

    fn map_backward_ring(
        &self,
        event: &EventFd,
        pages: RingPages,
    ) -> Result<BackwardRing, RingError> {
        BackwardRing::map(event, pages)
    }

    fn map_aux(&self, event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
        ring::map_aux(event, pages)
    }

    fn map_aux_snapshot(
        &self,
        event: &EventFd,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError> {
        ring::map_aux_snapshot(event, pages)
    }
}
