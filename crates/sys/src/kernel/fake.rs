//! A kernel for tests: remembers every call, answers as the test scripts it, and fails where the test wants it to.

mod calls;
mod counts;

pub use calls::{FakeCall, OpenedEvent, OpenedTask};
pub use counts::FakeCount;

use super::{Kernel, OwnEvents};
use crate::errno::check;
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, Control, CounterRead, CounterValue, DataRing,
    Errno, EventFd, OpenError, OpenRequest, ReadError, RingError, RingPages, ring,
};
use counts::CountScripts;
use oxperf_abi::{EventId, ReadFormat};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Decides which openings fail, and how.
type Refusal = Box<dyn Fn(&OpenRequest<'_>) -> Option<Errno> + Send + Sync>;

/// A kernel that opens nothing. Descriptors are real (they can be polled and never become ready by themselves),
/// rings are plain memory, a counter without a script reads 0, and the id of event n is n + 1.
#[derive(Default)]
pub struct FakeKernel {
    state: Mutex<State>,
    refusals: Vec<Refusal>,
    largest_ring: Option<usize>,
    has_aux: bool,
    restless: Vec<u8>,
}

#[derive(Default)]
struct State {
    opened: Vec<OpenedEvent>,
    /// Number of the event behind a descriptor; the latest entry counts, as numbers are reused after closing.
    descriptors: Vec<(RawFd, usize)>,
    calls: Vec<FakeCall>,
    counts: CountScripts,
}

impl FakeKernel {
    /// A kernel that takes everything.
    pub fn new() -> FakeKernel {
        FakeKernel::default()
    }

    /// Makes openings fail with the number that `refusal` returns for them.
    #[must_use]
    pub fn refusing(
        mut self,
        refusal: impl Fn(&OpenRequest<'_>) -> Option<Errno> + Send + Sync + 'static,
    ) -> FakeKernel {
        self.refusals.push(Box::new(refusal));
        self
    }

    /// Makes rings above `pages` fail with `EPERM`, as the limit of locked memory does.
    #[must_use]
    pub fn with_largest_ring(mut self, pages: usize) -> FakeKernel {
        self.largest_ring = Some(pages);
        self
    }

    /// Writes `records` into every ring, and again whenever its reader consumes any: events that never cease.
    #[must_use]
    pub fn with_restless_rings(mut self, records: Vec<u8>) -> FakeKernel {
        self.restless = records;
        self
    }

    /// Lets events have AUX areas; without it they are refused, as by a machine without hardware traces.
    #[must_use]
    pub fn with_aux(mut self) -> FakeKernel {
        self.has_aux = true;
        self
    }

    /// Sets what the reads of the event with this number find, in their order; the last count stays. A read of a group
    /// is a read of each of its events.
    #[must_use]
    pub fn with_counts(self, event: usize, counts: &[FakeCount]) -> FakeKernel {
        self.state().counts.set(event, counts.to_vec());
        self
    }

    /// The events opened so far.
    pub fn opened(&self) -> Vec<OpenedEvent> {
        self.state().opened.clone()
    }

    /// The calls so far on opened events.
    pub fn calls(&self) -> Vec<FakeCall> {
        self.state().calls.clone()
    }

    /// Writes records into a ring as the kernel would; false when they do not fit.
    pub fn write_records(&self, ring: &mut DataRing, bytes: &[u8]) -> bool {
        ring.produce(bytes)
    }

    /// Writes a record into a ring of the newest records as the kernel would.
    pub fn write_newest(&self, ring: &mut BackwardRing, record: &[u8]) {
        ring.produce(record);
    }

    /// Writes trace into an AUX area as hardware would; false when it does not fit.
    pub fn write_aux(&self, ring: &mut AuxRing, trace: &[u8]) -> bool {
        ring.produce(trace)
    }

    /// Writes trace over the oldest of an AUX area as hardware would.
    pub fn overwrite_aux(&self, ring: &mut AuxSnapshotRing, trace: &[u8]) {
        ring.overwrite(trace);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked while holding the lock has failed already.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self, event: &EventFd) -> io::Result<usize> {
        self.state()
            .number(event)
            .ok_or_else(|| Errno(libc::EBADF).into())
    }

    fn remember(&self, call: FakeCall) {
        self.state().calls.push(call);
    }
}

impl State {
    fn number(&self, event: &EventFd) -> Option<usize> {
        let entry = self
            .descriptors
            .iter()
            .rev()
            .find(|(fd, _)| *fd == event.as_raw_fd());
        entry.map(|(_, number)| *number)
    }
}

impl fmt::Debug for FakeKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.opened()).finish()
    }
}

impl Kernel for FakeKernel {
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
        if let Some(errno) = self.refusals.iter().find_map(|refusal| refusal(request)) {
            return Err(errno.into());
        }
        let event = quiet_descriptor().map_err(|error| OpenError::from(Errno::of(&error)))?;
        let mut state = self.state();
        let group = request.group.map(|leader| {
            state
                .number(leader)
                .ok_or(OpenError::Other(Errno(libc::EBADF)))
        });
        let opened = OpenedEvent {
            attr: *request.attr,
            task: request.task.into(),
            cpu: request.cpu,
            group: group.transpose()?,
            flags: request.flags,
        };
        let number = state.opened.len();
        state.descriptors.push((event.as_raw_fd(), number));
        state.opened.push(opened);
        Ok(event)
    }

    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()> {
        let number = self.number(event)?;
        self.remember(match control {
            Control::Enable(scope) => FakeCall::Enable(number, scope),
            Control::Disable(scope) => FakeCall::Disable(number, scope),
            Control::Reset(scope) => FakeCall::Reset(number, scope),
            Control::Period(period) => FakeCall::Period(number, period),
            Control::SetOutput(target) => FakeCall::SetOutput(number, self.number(target)?),
            Control::ClearOutput => FakeCall::ClearOutput(number),
            Control::SetFilter(text) => {
                FakeCall::SetFilter(number, text.to_string_lossy().into_owned())
            }
            Control::PauseOutput(pause) => FakeCall::PauseOutput(number, pause),
        });
        Ok(())
    }

    fn id(&self, event: &EventFd) -> io::Result<EventId> {
        Ok(EventId(self.number(event)? as u64 + 1))
    }

    fn control_own_events(&self, change: OwnEvents) -> io::Result<()> {
        self.remember(FakeCall::OwnEvents(change));
        Ok(())
    }

    fn read(&self, event: &EventFd, format: ReadFormat) -> Result<CounterRead, ReadError> {
        let leader = self.number(event)?;
        let members = self.members(leader, format);
        let mut state = self.state();
        let counts: Vec<FakeCount> = members
            .iter()
            .map(|&number| state.counts.next(number))
            .collect();
        let times = counts.first().copied().unwrap_or_default();
        let value = |(number, count): (&usize, &FakeCount)| CounterValue {
            value: count.value,
            id: format
                .contains(ReadFormat::ID)
                .then_some(EventId(*number as u64 + 1)),
            lost: format.contains(ReadFormat::LOST).then_some(count.lost),
        };
        Ok(CounterRead {
            enabled: format
                .contains(ReadFormat::TOTAL_TIME_ENABLED)
                .then_some(times.enabled),
            running: format
                .contains(ReadFormat::TOTAL_TIME_RUNNING)
                .then_some(times.running),
            values: members.iter().zip(&counts).map(value).collect(),
        })
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        self.take_mapping(event, pages, |number| FakeCall::MapRing(number, pages))?;
        DataRing::refilled(pages, self.restless.clone())
    }

    fn map_backward_ring(
        &self,
        event: &EventFd,
        pages: RingPages,
    ) -> Result<BackwardRing, RingError> {
        self.take_mapping(event, pages, |number| {
            FakeCall::MapBackwardRing(number, pages)
        })?;
        BackwardRing::anonymous(pages)
    }

    fn map_aux(&self, event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
        self.check_aux(pages)?;
        self.take_mapping(event, pages.data, |number| FakeCall::MapAux(number, pages))?;
        ring::anonymous_aux(pages)
    }

    fn map_aux_snapshot(
        &self,
        event: &EventFd,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError> {
        self.check_aux(pages)?;
        self.take_mapping(event, pages.data, |number| {
            FakeCall::MapAuxSnapshot(number, pages)
        })?;
        ring::anonymous_aux_snapshot(pages)
    }
}

impl FakeKernel {
    /// Remembers a mapping, unless it is above the limit of locked memory.
    fn take_mapping(
        &self,
        event: &EventFd,
        pages: RingPages,
        call: impl FnOnce(usize) -> FakeCall,
    ) -> Result<(), RingError> {
        let bytes = pages.bytes();
        let most = self.largest_ring.unwrap_or(usize::MAX);
        if pages.count() > most {
            return Err(RingError::LockedMemory { bytes });
        }
        let number = self.number(event).map_err(|error| RingError::Map {
            bytes,
            errno: Errno::of(&error),
        })?;
        self.remember(call(number));
        Ok(())
    }

    fn check_aux(&self, pages: AuxPages) -> Result<(), RingError> {
        if self.has_aux {
            return Ok(());
        }
        Err(RingError::Map {
            bytes: pages.aux.bytes(),
            errno: Errno(libc::EOPNOTSUPP),
        })
    }

    /// The events that one read of `leader` covers.
    fn members(&self, leader: usize, format: ReadFormat) -> Vec<usize> {
        let state = self.state();
        let in_group = |(number, event): (usize, &OpenedEvent)| {
            let member = format.contains(ReadFormat::GROUP) && event.group == Some(leader);
            (number == leader || member).then_some(number)
        };
        state
            .opened
            .iter()
            .enumerate()
            .filter_map(in_group)
            .collect()
    }
}

/// A descriptor that can be polled and never becomes ready.
fn quiet_descriptor() -> io::Result<EventFd> {
    // SAFETY: the call takes numbers only.
    let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the kernel just returned this descriptor, so nobody else owns it.
    Ok(EventFd::from_owned(unsafe { OwnedFd::from_raw_fd(fd) }))
}

#[cfg(test)]
mod tests;
