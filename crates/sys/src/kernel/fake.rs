//! A kernel for tests: remembers every call and fails where it is told to.

use super::Kernel;
use crate::errno::check;
use crate::{
    Control, CounterRead, CounterValue, DataRing, Errno, EventFd, OpenError, OpenFlags,
    OpenRequest, ReadError, RingError, RingPages, Scope, Task,
};
use oxperf_abi::{Cpu, EventAttr, EventId, ReadFormat, Tid};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whose execution a remembered event counts; [`Task`] without a borrowed descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenedTask {
    /// Everybody.
    Any,
    /// The calling thread.
    Caller,
    /// One thread.
    Thread(Tid),
    /// A cgroup.
    Cgroup,
}

/// An event that would have been opened. Events are numbered from 0 in the order of their opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenedEvent {
    /// What was asked for.
    pub attr: EventAttr,
    /// Whose execution.
    pub task: OpenedTask,
    /// Where; `None` for every CPU.
    pub cpu: Option<Cpu>,
    /// Number of the group's leader.
    pub group: Option<usize>,
    /// Flags.
    pub flags: OpenFlags,
}

/// A call after opening, with the number of the event it concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FakeCall {
    /// [`Control::Enable`].
    Enable(usize, Scope),
    /// [`Control::Disable`].
    Disable(usize, Scope),
    /// [`Control::Reset`].
    Reset(usize, Scope),
    /// [`Control::Period`].
    Period(usize, u64),
    /// [`Control::SetOutput`] to the second event's ring.
    SetOutput(usize, usize),
    /// [`Control::ClearOutput`].
    ClearOutput(usize),
    /// [`Control::SetFilter`].
    SetFilter(usize, String),
    /// [`Control::PauseOutput`].
    PauseOutput(usize, bool),
    /// A ring of so many pages was mapped.
    MapRing(usize, usize),
}

/// Says which openings fail, and how.
type Refusal = Box<dyn Fn(&OpenRequest<'_>) -> Option<Errno> + Send + Sync>;

/// A kernel that opens nothing. Descriptors are real (they can be polled and never become ready by themselves),
/// rings are plain memory, every counter reads 0, and the id of event n is n + 1.
#[derive(Default)]
pub struct FakeKernel {
    state: Mutex<State>,
    refusals: Vec<Refusal>,
    largest_ring: Option<usize>,
    restless: Vec<u8>,
}

#[derive(Default)]
struct State {
    opened: Vec<OpenedEvent>,
    /// Number of the event behind a descriptor; the latest entry counts, as numbers are reused after closing.
    descriptors: Vec<(RawFd, usize)>,
    calls: Vec<FakeCall>,
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

    fn read(&self, event: &EventFd, format: ReadFormat) -> Result<CounterRead, ReadError> {
        let number = self.number(event)?;
        let zero_if = |bit| format.contains(bit).then_some(0);
        let id = |number: usize| {
            format
                .contains(ReadFormat::ID)
                .then_some(EventId(number as u64 + 1))
        };
        let values = self.members(number, format).into_iter();
        Ok(CounterRead {
            enabled: zero_if(ReadFormat::TOTAL_TIME_ENABLED),
            running: zero_if(ReadFormat::TOTAL_TIME_RUNNING),
            values: values
                .map(|number| CounterValue {
                    value: 0,
                    id: id(number),
                    lost: zero_if(ReadFormat::LOST),
                })
                .collect(),
        })
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        let bytes = pages.bytes();
        if self
            .largest_ring
            .is_some_and(|largest| pages.count() > largest)
        {
            return Err(RingError::LockedMemory { bytes });
        }
        let number = self.number(event).map_err(|error| RingError::Map {
            bytes,
            errno: Errno::of(&error),
        })?;
        self.remember(FakeCall::MapRing(number, pages.count()));
        DataRing::refilled(pages, self.restless.clone())
    }
}

impl FakeKernel {
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

impl From<Task<'_>> for OpenedTask {
    fn from(task: Task<'_>) -> OpenedTask {
        match task {
            Task::Any => OpenedTask::Any,
            Task::Caller => OpenedTask::Caller,
            Task::Thread(tid) => OpenedTask::Thread(tid),
            Task::Cgroup(_) => OpenedTask::Cgroup,
        }
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
mod tests {
    use super::*;
    use oxperf_abi::{AttrFlags, EventType};

    fn precise() -> EventAttr {
        let mut flags = AttrFlags::EMPTY;
        flags.set_precise_ip(2);
        EventAttr {
            kind: EventType::HARDWARE,
            flags,
            ..EventAttr::default()
        }
    }

    #[test]
    fn remembers_groups_and_calls() {
        let kernel = FakeKernel::new();
        let attr = EventAttr::default();
        let leader = kernel.open(&OpenRequest::new(&attr, Task::Caller)).unwrap();
        let request = OpenRequest {
            group: Some(&leader),
            cpu: Some(Cpu(1)),
            ..OpenRequest::new(&attr, Task::Any)
        };
        let member = kernel.open(&request).unwrap();
        kernel
            .control(&member, Control::SetOutput(&leader))
            .unwrap();
        kernel
            .control(&leader, Control::Enable(Scope::Group))
            .unwrap();
        kernel
            .control(&leader, Control::SetFilter(c"pid != 0"))
            .unwrap();

        assert_eq!(
            (kernel.opened()[1].group, kernel.opened()[1].cpu),
            (Some(0), Some(Cpu(1)))
        );
        let expected = [
            FakeCall::SetOutput(1, 0),
            FakeCall::Enable(0, Scope::Group),
            FakeCall::SetFilter(0, "pid != 0".into()),
        ];
        assert_eq!(kernel.calls(), expected);
        assert_eq!(kernel.id(&member).unwrap(), EventId(2));
        assert_eq!(
            kernel
                .read(&leader, ReadFormat::GROUP)
                .unwrap()
                .values
                .len(),
            2
        );
    }

    #[test]
    fn refuses_what_the_test_says() {
        let kernel = FakeKernel::new().refusing(|request| {
            (request.attr.flags.precise_ip() > 0).then_some(Errno(libc::EOPNOTSUPP))
        });
        let attr = precise();
        let refused = kernel.open(&OpenRequest::new(&attr, Task::Caller));
        assert_eq!(refused.unwrap_err(), OpenError::Unsupported);
        assert!(
            kernel
                .open(&OpenRequest::new(&EventAttr::default(), Task::Caller))
                .is_ok()
        );
        assert_eq!(kernel.opened().len(), 1);
    }

    #[test]
    fn rings_hold_what_the_test_writes() {
        let kernel = FakeKernel::new().with_largest_ring(2);
        let event = kernel
            .open(&OpenRequest::new(&EventAttr::default(), Task::Caller))
            .unwrap();
        let pages = |count| RingPages::new(count).unwrap();
        assert!(matches!(
            kernel.map_ring(&event, pages(4)),
            Err(RingError::LockedMemory { .. })
        ));
        let mut ring = kernel.map_ring(&event, pages(2)).unwrap();
        assert!(kernel.write_records(&mut ring, b"12345678"));
        assert_eq!(ring.available().0, b"12345678");
    }
}
