//! A kernel for tests: remembers every call, answers as the test scripts it, and fails where the test wants it to.
//!
//! - [`calls`] are what it remembers, [`counts`] what single reads are to find.
//! - [`schedule`] counts while the test moves the clock, with PMUs that have too few counters.
//! - [`state`] holds the events, [`script`] what the test said beforehand, [`clockwork`] is what happens while time passes.
//! - [`rings`] is the kernel's side of rings and traces, [`descriptor`] what pollers see.

mod calls;
mod clockwork;
mod counts;
mod descriptor;
mod rings;
mod schedule;
mod script;
mod state;

pub use calls::{FakeCall, OpenedEvent, OpenedTask};
pub use clockwork::FakeOverflow;
pub use counts::FakeCount;
pub use rings::FakeTraceCount;
pub use schedule::FakePmu;

use super::{Kernel, OwnEvents};
use crate::ring::{ConsumeListener, TraceWriter};
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, CounterPage,
    CounterRead, DataRing, Errno, EventFd, Notification, OpenError, OpenRequest, ReadError,
    RingError, RingPages, ring,
};
use oxperf_abi::EventId;
use rings::FakeTrace;
use script::Script;
use state::{Descriptor, State, id_of};
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A kernel that opens nothing, for tests. Events are numbered from 0 in the order of their opening; the id of event n is
/// n + 1. Without a script it takes everything, clocks count time and all else counts nothing, and time stands still.
///
/// A test scripts it before (methods `with_..`), lets time pass ([`FakeKernel::advance`]) or lets the kernel write
/// ([`FakeKernel::write_records`], [`FakeKernel::write_aux`]), and asks afterwards ([`FakeKernel::opened`],
/// [`FakeKernel::calls`]).
///
/// It is simpler than a kernel: PMUs are shared among events of the same task and CPU alone, nothing is inherited, events with a
/// frequency take no samples, notifications are remembered and no signal is sent, and a pinned event that fails does not hang up
/// as newer kernels have it.
///
/// ```
/// use oxperf_abi::{EventType, HardwareId};
/// use oxperf_sys::{CounterSpec, EventTask, FakeKernel, FakePmu, PollSet, ReadError, RingPages};
/// use std::time::Duration;
///
/// // A core with two counters, on which each event happens a million times a second.
/// let kernel = FakeKernel::new()
///     .with_pmu(FakePmu::core(2))
///     .with_rates(|event| (event.attr.kind == EventType::HARDWARE).then_some(1_000_000))
///     .with_samples(|overflow| overflow.record(&[overflow.time]));
/// let open = |spec: CounterSpec| spec.open(&kernel, EventTask::Caller).unwrap();
///
/// // Three events share the two counters: each is counted for two thirds of the time, and scaled.
/// let ids = [HardwareId::CpuCycles, HardwareId::Instructions, HardwareId::BranchMisses];
/// let counters = ids.map(|id| open(CounterSpec::hardware(id)));
/// kernel.advance(Duration::from_millis(1200));
/// for counter in &counters {
///     let read = counter.read().unwrap();
///     assert_eq!(read.values[0].value, 800_000);
///     assert_eq!(read.estimate(0).unwrap().value(), Some(1_200_000));
/// }
///
/// // Two pinned events leave no counter for a third, which then has nothing to read.
/// let pinned = ids.map(|id| open(CounterSpec::hardware(id).pinned()));
/// kernel.advance(Duration::from_millis(4));
/// assert!(matches!(pinned[2].read(), Err(ReadError::NotCounting)));
///
/// // An event that samples writes a record at each overflow, and wakes who polls it.
/// let sampler = open(CounterSpec::task_clock().every(1_000_000).wake_each(1));
/// let mut ring = sampler.map_ring(RingPages::new(1).unwrap()).unwrap();
/// let mut poll = PollSet::new();
/// let slot = poll.add(&sampler);
/// kernel.advance(Duration::from_millis(3));
/// poll.wait(Some(Duration::ZERO)).unwrap();
/// assert!(poll.readiness(slot).readable);
/// assert_eq!(ring.available().0.len(), 3 * 16, "a header and a time each");
/// ring.consume(3 * 16);
/// ```
#[derive(Default)]
pub struct FakeKernel {
    state: Arc<Mutex<State>>,
    script: Script,
}

impl FakeKernel {
    /// The events opened so far.
    pub fn opened(&self) -> Vec<OpenedEvent> {
        self.state().opened.clone()
    }

    /// The calls so far on opened events.
    pub fn calls(&self) -> Vec<FakeCall> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
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

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A test that panicked while holding the lock has failed already.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hears that a ring of the fake kernel was read.
struct RingListener {
    state: Arc<Mutex<State>>,
    number: usize,
}

impl ConsumeListener for RingListener {
    fn consumed(&self) {
        let mut state = lock(&self.state);
        if let Some(ring) = state.rings.get_mut(&self.number) {
            ring.consumed();
        }
        state.refill(self.number);
    }
}

impl fmt::Debug for RingListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RingListener({})", self.number)
    }
}

impl fmt::Debug for FakeKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.opened()).finish()
    }
}

impl Kernel for FakeKernel {
    fn open(&self, request: &OpenRequest<'_>) -> Result<EventFd, OpenError> {
        if let Some(errno) = self.script.refusal(request) {
            return Err(errno.into());
        }
        let (event, far) = descriptor::quiet(request.attr.read_format)
            .map_err(|error| OpenError::from(Errno::of(&error)))?;
        let mut state = self.state();
        let group = request.group.map(|leader| {
            state
                .number(leader)
                .ok_or(OpenError::from(Errno(libc::EBADF)))
        });
        let opened = OpenedEvent {
            attr: *request.attr,
            task: request.task.into(),
            cpu: request.cpu,
            group: group.transpose()?,
            flags: request.flags,
        };
        if !self.script.group_fits(&state.opened, &opened) {
            return Err(OpenError::Invalid);
        }
        let number = state.opened.len();
        let live = self.script.counter(number, &opened);
        let descriptor = Descriptor {
            fd: event.as_raw_fd(),
            number,
            far: Some(far),
        };
        state.remember_opened(opened, live, descriptor);
        Ok(event)
    }

    fn control(&self, event: &EventFd, control: Control<'_>) -> io::Result<()> {
        let number = self.number(event)?;
        let mut state = self.state();
        let call = state.control(number, control)?;
        state.calls.push(call);
        Ok(())
    }

    fn control_own_events(&self, change: OwnEvents) -> io::Result<()> {
        let mut state = self.state();
        for live in &mut state.live {
            live.switch(change == OwnEvents::Enable);
        }
        state.calls.push(FakeCall::OwnEvents(change));
        Ok(())
    }

    fn id(&self, event: &EventFd) -> io::Result<EventId> {
        Ok(id_of(self.number(event)?))
    }

    fn bpf_programs(&self, event: &EventFd) -> io::Result<Vec<BpfProgramId>> {
        let number = self.number(event)?;
        Ok(self.state().programs(number))
    }

    fn read(&self, event: &EventFd) -> Result<CounterRead, ReadError> {
        let number = self.number(event)?;
        self.state().read(number, event.read_format())
    }

    fn notify(&self, event: &EventFd, notification: Option<Notification>) -> io::Result<()> {
        let number = self.number(event)?;
        self.remember(FakeCall::Notify(number, notification));
        Ok(())
    }

    fn set_blocking(&self, event: &EventFd, blocking: bool) -> io::Result<()> {
        let number = self.number(event)?;
        self.remember(FakeCall::SetBlocking(number, blocking));
        Ok(())
    }

    fn map_ring(&self, event: &EventFd, pages: RingPages) -> Result<DataRing, RingError> {
        let number = self.take_mapping(event, pages, |number| FakeCall::MapRing(number, pages))?;
        Ok(self.heard(event, number, DataRing::anonymous(pages)?))
    }

    fn map_backward_ring(
        &self,
        event: &EventFd,
        pages: RingPages,
    ) -> Result<BackwardRing, RingError> {
        let number = self.take_mapping(event, pages, |number| {
            FakeCall::MapBackwardRing(number, pages)
        })?;
        let ring = BackwardRing::anonymous(pages)?;
        self.state()
            .keep_ring(event, number, ring.size(), ring.writer());
        Ok(ring)
    }

    fn map_counter_page(&self, event: &EventFd) -> Result<CounterPage, RingError> {
        let number = self.number(event).map_err(|error| RingError::Map {
            bytes: 0,
            errno: Errno::of(&error),
        })?;
        let page = CounterPage::anonymous()?;
        let mut state = self.state();
        state.pages.insert(number, page.writer());
        state.calls.push(FakeCall::MapCounterPage(number));
        Ok(page)
    }

    fn map_aux(&self, event: &EventFd, pages: AuxPages) -> Result<(DataRing, AuxRing), RingError> {
        self.check_aux(pages)?;
        let number =
            self.take_mapping(event, pages.data, |number| FakeCall::MapAux(number, pages))?;
        let (ring, aux) = ring::anonymous_aux(pages)?;
        self.keep_trace(number, aux.writer());
        Ok((self.heard(event, number, ring), aux))
    }

    fn map_aux_snapshot(
        &self,
        event: &EventFd,
        pages: AuxPages,
    ) -> Result<(DataRing, AuxSnapshotRing), RingError> {
        self.check_aux(pages)?;
        let number = self.take_mapping(event, pages.data, |number| {
            FakeCall::MapAuxSnapshot(number, pages)
        })?;
        let (ring, aux) = ring::anonymous_aux_snapshot(pages)?;
        self.keep_trace(number, aux.writer());
        Ok((self.heard(event, number, ring), aux))
    }
}

impl FakeKernel {
    /// Remembers a mapping, unless it is above the limit of locked memory; the event's number.
    fn take_mapping(
        &self,
        event: &EventFd,
        pages: RingPages,
        call: impl FnOnce(usize) -> FakeCall,
    ) -> Result<usize, RingError> {
        let bytes = pages.bytes();
        if !self.script.allows_ring(pages) {
            return Err(RingError::LockedMemory { bytes });
        }
        let number = self.number(event).map_err(|error| RingError::Map {
            bytes,
            errno: Errno::of(&error),
        })?;
        self.remember(call(number));
        Ok(number)
    }

    /// Keeps the kernel's side of a ring, and hears when it is read.
    fn heard(&self, event: &EventFd, number: usize, ring: DataRing) -> DataRing {
        let mut state = self.state();
        state.keep_ring(event, number, ring.size(), ring.writer());
        state.pages.insert(number, ring.counter_page().writer());
        drop(state);
        let state = Arc::clone(&self.state);
        ring.heard_by(Arc::new(RingListener { state, number }))
    }

    fn keep_trace(&self, number: usize, writer: TraceWriter) {
        let mut state = self.state();
        let watermark = state.opened[number].attr.aux_watermark;
        let trace = FakeTrace::new(writer, watermark);
        state.traces.insert(number, trace);
    }

    fn check_aux(&self, pages: AuxPages) -> Result<(), RingError> {
        if self.script.has_aux {
            return Ok(());
        }
        Err(RingError::Map {
            bytes: pages.aux.bytes(),
            errno: Errno(libc::EOPNOTSUPP),
        })
    }
}

#[cfg(test)]
mod clock_tests;
#[cfg(test)]
mod tests;
