//! An open event with the kernel that it was opened by.

use super::SelfCounter;
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, ControlScope,
    CounterRead, CpuRegisters, DataRing, EventFd, Kernel, Notification, ReadError, RingError,
    RingPages,
};
use oxperf_abi::EventId;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};

/// An open event. Dropped, it ends; a ring that was mapped stays readable.
pub struct Counter<'k> {
    kernel: &'k dyn Kernel,
    event: EventFd,
}

impl<'k> Counter<'k> {
    /// An event that `kernel` opened.
    pub fn new(kernel: &'k dyn Kernel, event: EventFd) -> Counter<'k> {
        Counter { kernel, event }
    }

    /// The event, for calls of the kernel that are made apart.
    pub fn event(&self) -> &EventFd {
        &self.event
    }

    pub(super) fn kernel(&self) -> &'k dyn Kernel {
        self.kernel
    }

    /// Changes the event.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn control(&self, control: Control<'_>) -> io::Result<()> {
        self.kernel.control(&self.event, control)
    }

    /// Starts counting; the members of a leader go with it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn enable(&self) -> io::Result<()> {
        self.control(Control::Enable(ControlScope::Event))
    }

    /// Stops counting; the members of a leader stop with it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn disable(&self) -> io::Result<()> {
        self.control(Control::Disable(ControlScope::Event))
    }

    /// Sets the count to 0. Times stay.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn reset(&self) -> io::Result<()> {
        self.control(Control::Reset(ControlScope::Event))
    }

    /// Counts until so many overflows more, then stops ([`Control::Refresh`]).
    ///
    /// # Errors
    /// `EINVAL` for an event that does not sample, or is inherited.
    pub fn refresh(&self, overflows: NonZeroU32) -> io::Result<()> {
        self.control(Control::Refresh(overflows))
    }

    /// Sends records to another event's ring, which has to be on the same CPU and of the same clock.
    ///
    /// # Errors
    /// `EINVAL` for events that cannot share a ring.
    pub fn send_output_to(&self, other: &Counter<'_>) -> io::Result<()> {
        self.control(Control::SetOutput(&other.event))
    }

    /// The count, or those of the group, with what the event was opened to tell. Never waits.
    ///
    /// # Errors
    /// [`ReadError::NotCounting`] for a pinned event without its counter; otherwise the kernel's answer.
    pub fn read(&self) -> Result<CounterRead, ReadError> {
        self.kernel.read(&self.event)
    }

    /// The count alone, unscaled: that of the leader for a group.
    ///
    /// # Errors
    /// As [`Counter::read`].
    pub fn value(&self) -> Result<u64, ReadError> {
        let read = self.read()?;
        let first = read.values.first().map(|value| value.value);
        first.ok_or(ReadError::Short { length: 0 })
    }

    /// The kernel's id of the event, as its samples carry it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn id(&self) -> io::Result<EventId> {
        self.kernel.id(&self.event)
    }

    /// The BPF programs at the event's tracepoint or probe.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn bpf_programs(&self) -> io::Result<Vec<BpfProgramId>> {
        self.kernel.bpf_programs(&self.event)
    }

    /// Sends a signal at each overflow that wakes somebody, or none any more.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn notify(&self, notification: Option<Notification>) -> io::Result<()> {
        self.kernel.notify(&self.event, notification)
    }

    /// Makes the descriptor a blocking one, or not; reads never wait.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn set_blocking(&self, blocking: bool) -> io::Result<()> {
        self.kernel.set_blocking(&self.event, blocking)
    }

    /// Maps the ring of records.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn map_ring(&self, pages: RingPages) -> Result<DataRing, RingError> {
        self.kernel.map_ring(&self.event, pages)
    }

    /// Maps the ring of an event that keeps the newest records.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn map_backward_ring(&self, pages: RingPages) -> Result<BackwardRing, RingError> {
        self.kernel.map_backward_ring(&self.event, pages)
    }

    /// Maps the ring of records and the AUX area of an event that traces, all of which is read.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn map_aux(&self, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
        self.kernel.map_aux(&self.event, pages)
    }

    /// Maps the ring of records and the AUX area of an event that traces, which keeps the newest trace.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn map_aux_snapshot(
        &self,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError> {
        self.kernel.map_aux_snapshot(&self.event, pages)
    }

    /// Reads the counter without calls of the kernel from now on, where that is possible. For an event of the calling thread
    /// that has no ring.
    ///
    /// # Errors
    /// The page cannot be mapped.
    pub fn read_in_user_mode(self) -> Result<SelfCounter<'k, CpuRegisters>, RingError> {
        SelfCounter::new(self, CpuRegisters::new())
    }
}

impl AsFd for Counter<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl std::fmt::Debug for Counter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Counter").field(&self.event).finish()
    }
}
