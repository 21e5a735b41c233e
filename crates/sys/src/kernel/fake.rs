//! A kernel for tests: remembers every call, answers as the test scripts it, and fails where the test wants it to.
//!
//! - [`calls`] are what it remembers, [`counts`] what single reads are to find.
//! - [`schedule`] counts while the test moves the clock, with PMUs that have too few counters.
//! - [`rings`] is the kernel's side of rings and traces, [`descriptor`] what pollers see.

mod calls;
mod clockwork;
mod counts;
mod descriptor;
mod rings;
mod schedule;
mod script;

pub use calls::{FakeCall, OpenedEvent, OpenedTask};
pub use clockwork::FakeOverflow;
pub use counts::FakeCount;
pub use schedule::FakePmu;

use super::{Kernel, OwnEvents};
use crate::ring::{ConsumeListener, CounterPageWriter, RecordWriter, TraceWriter};
use crate::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, BpfProgramId, Control, ControlScope,
    CounterPage, CounterRead, CounterValue, DataRing, Errno, EventFd, Notification, OpenError,
    OpenRequest, ReadError, RingError, RingPages, ring,
};
use counts::CountScripts;
use descriptor::{Bell, FarEnd};
use oxperf_abi::{AttrFlags, EventAttr, EventId, EventType, ReadFormat};
use rings::{FakeRing, FakeTrace, Origin, TraceStream};
use schedule::LiveCounter;
use script::Script;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A kernel that opens nothing, for tests. Events are numbered from 0 in the order of their opening; the id of event n is
/// n + 1. Without a script it takes everything, clocks count time and all else counts nothing, and time stands still.
///
/// A test scripts it before (methods `with_..`), lets time pass ([`FakeKernel::advance`]) or lets the kernel write
/// ([`FakeKernel::write_records`], [`FakeKernel::write_aux`]), and asks afterwards ([`FakeKernel::opened`],
/// [`FakeKernel::calls`]).
///
/// ```
/// use oxperf_abi::{EventType, HardwareId};
/// use oxperf_sys::{EventSpec, EventTask, FakeKernel, FakePmu, PollSet, ReadError, RingPages};
/// use std::time::Duration;
///
/// // A core with two counters, on which each event happens a million times a second.
/// let kernel = FakeKernel::new()
///     .with_pmu(FakePmu::core(2))
///     .with_rates(|event| (event.attr.kind == EventType::HARDWARE).then_some(1_000_000))
///     .with_samples(|overflow| overflow.record(&[overflow.time]));
/// let open = |spec: EventSpec| spec.open(&kernel, EventTask::Caller).unwrap();
///
/// // Three events share the two counters: each is counted for two thirds of the time, and scaled.
/// let ids = [HardwareId::CpuCycles, HardwareId::Instructions, HardwareId::BranchMisses];
/// let counters = ids.map(|id| open(EventSpec::hardware(id)));
/// kernel.advance(Duration::from_millis(1200));
/// for counter in &counters {
///     let read = counter.read().unwrap();
///     assert_eq!(read.values[0].value, 800_000);
///     assert_eq!(read.estimate(0).unwrap().value(), Some(1_200_000));
/// }
///
/// // Two pinned events leave no counter for a third, which then has nothing to read.
/// let pinned = ids.map(|id| open(EventSpec::hardware(id).pinned()));
/// kernel.advance(Duration::from_millis(4));
/// assert!(matches!(pinned[2].read(), Err(ReadError::NotCounting)));
///
/// // An event that samples writes a record at each overflow, and wakes who polls it.
/// let sampler = open(EventSpec::task_clock().every(1_000_000).wake_each(1));
/// let mut ring = sampler.map_ring(RingPages::new(1).unwrap()).unwrap();
/// let mut poll = PollSet::new();
/// let slot = poll.add(&sampler);
/// kernel.advance(Duration::from_millis(3));
/// poll.wait(Some(Duration::ZERO)).unwrap();
/// assert!(poll.readiness(slot).readable);
/// assert_eq!(ring.available().0.len(), 3 * 16, "a header and a time each");
/// ring.consume(3 * 16);
/// ```
pub struct FakeKernel {
    state: Arc<Mutex<State>>,
    script: Script,
}

struct State {
    opened: Vec<OpenedEvent>,
    live: Vec<LiveCounter>,
    /// The event behind a descriptor; the latest entry counts, as numbers are reused after closing.
    descriptors: Vec<Descriptor>,
    calls: Vec<FakeCall>,
    counts: CountScripts,
    rings: HashMap<usize, FakeRing>,
    traces: HashMap<usize, FakeTrace>,
    pages: HashMap<usize, CounterPageWriter>,
    /// Events whose records go to another's ring.
    outputs: HashMap<usize, usize>,
    /// Events with a BPF program, in the order of attaching.
    programs: Vec<usize>,
    /// Samples of each event that were lost.
    lost: HashMap<usize, u64>,
    restless: Vec<u8>,
    stream: TraceStream,
    /// Nanoseconds since the beginning.
    now: u64,
    turn: usize,
}

struct Descriptor {
    fd: RawFd,
    number: usize,
    far: Option<FarEnd>,
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

impl State {
    fn number(&self, event: &EventFd) -> Option<usize> {
        self.descriptor(event).map(|entry| entry.number)
    }

    fn descriptor(&self, event: &EventFd) -> Option<&Descriptor> {
        let mut entries = self.descriptors.iter().rev();
        entries.find(|entry| entry.fd == event.as_raw_fd())
    }

    /// The events of a group, the leader first, of which `number` is one.
    fn group(&self, number: usize) -> Vec<usize> {
        let leader = self.opened[number].group.unwrap_or(number);
        let is_member = |event: &OpenedEvent| event.group == Some(leader);
        let members = self.opened.iter().enumerate();
        let members = members.filter(|(_, event)| is_member(event));
        std::iter::once(leader)
            .chain(members.map(|(member, _)| member))
            .collect()
    }

    fn concerned(&self, number: usize, scope: ControlScope) -> Vec<usize> {
        match scope {
            ControlScope::Event => vec![number],
            ControlScope::Group => self.group(number),
        }
    }

    fn switch(&mut self, number: usize, scope: ControlScope, on: bool) {
        for number in self.concerned(number, scope) {
            self.live[number].switch(on);
        }
    }

    fn remember_opened(&mut self, opened: OpenedEvent, live: LiveCounter, descriptor: Descriptor) {
        for former in &mut self.descriptors {
            // Its descriptor was closed, or this one could not have the same number.
            if former.fd == descriptor.fd {
                former.far = None;
            }
        }
        self.descriptors.push(descriptor);
        self.opened.push(opened);
        self.live.push(live);
    }

    /// The state of a counter for a read.
    fn count(&mut self, number: usize) -> FakeCount {
        let live = self.live[number];
        self.counts.next(number).unwrap_or(FakeCount {
            value: live.value,
            enabled: live.enabled,
            running: live.running,
            lost: self.lost.get(&number).copied().unwrap_or(0),
        })
    }

    fn refresh(&mut self, number: usize, overflows: NonZeroU32) -> io::Result<()> {
        let attr = &self.opened[number].attr;
        if attr.sample_period == 0 || attr.flags.contains(AttrFlags::INHERIT) {
            return Err(Errno(libc::EINVAL).into());
        }
        let live = &mut self.live[number];
        let left = live.overflows_left.unwrap_or(0);
        live.overflows_left = Some(left.saturating_add(overflows.get()));
        self.switch(number, ControlScope::Event, true);
        Ok(())
    }

    fn modify(&mut self, number: usize, attr: &EventAttr) -> io::Result<()> {
        let opened = &mut self.opened[number];
        if opened.attr.kind != EventType::BREAKPOINT {
            return Err(Errno(libc::EOPNOTSUPP).into());
        }
        opened.attr = *attr;
        Ok(())
    }

    /// The programs at the tracepoint or probe that an event stands for.
    fn programs(&self, number: usize) -> Vec<BpfProgramId> {
        let place = |number: usize| {
            let attr = &self.opened[number].attr;
            (attr.kind, attr.config, attr.config1, attr.config2)
        };
        let here = |(_, owner): &(usize, &usize)| place(**owner) == place(number);
        let programs = self.programs.iter().enumerate().filter(here);
        programs
            .map(|(nth, _)| BpfProgramId(nth as u32 + 1))
            .collect()
    }

    /// Applies a change; the call as it is remembered.
    fn control(&mut self, number: usize, control: Control<'_>) -> io::Result<FakeCall> {
        Ok(match control {
            Control::Enable(scope) => {
                self.switch(number, scope, true);
                FakeCall::Enable(number, scope)
            }
            Control::Disable(scope) => {
                self.switch(number, scope, false);
                FakeCall::Disable(number, scope)
            }
            Control::Reset(scope) => {
                for number in self.concerned(number, scope) {
                    self.live[number].value = 0;
                }
                FakeCall::Reset(number, scope)
            }
            Control::Refresh(overflows) => {
                self.refresh(number, overflows)?;
                FakeCall::Refresh(number, overflows)
            }
            Control::Period(period) => {
                self.opened[number].attr.sample_period = period;
                FakeCall::Period(number, period)
            }
            Control::SetOutput(target) => {
                let target = self.number(target).ok_or(Errno(libc::EBADF))?;
                self.outputs.insert(number, target);
                FakeCall::SetOutput(number, target)
            }
            Control::ClearOutput => {
                self.outputs.remove(&number);
                FakeCall::ClearOutput(number)
            }
            Control::SetFilter(text) => {
                FakeCall::SetFilter(number, text.to_string_lossy().into_owned())
            }
            Control::PauseOutput(pause) => {
                if let Some(ring) = self.rings.get_mut(&number) {
                    ring.paused = pause;
                }
                FakeCall::PauseOutput(number, pause)
            }
            Control::SetBpf(_) => {
                self.programs.push(number);
                FakeCall::SetBpf(number)
            }
            Control::ModifyAttributes(attr) => {
                self.modify(number, attr)?;
                FakeCall::ModifyAttributes(number, *attr)
            }
        })
    }

    /// Keeps the kernel's side of a ring that was mapped.
    fn keep_ring(&mut self, event: &EventFd, number: usize, size: usize, writer: RecordWriter) {
        let far = self.descriptor(event).and_then(|entry| entry.far.as_ref());
        let bell = Bell::of(event, far);
        let attr = &self.opened[number].attr;
        let ring = FakeRing::new(attr, size, writer, bell);
        self.rings.insert(number, ring);
        self.refill(number);
    }

    /// Writes the records that never cease.
    fn refill(&mut self, number: usize) {
        let restless = std::mem::take(&mut self.restless);
        if !restless.is_empty() {
            self.write(number, &restless);
        }
        self.restless = restless;
    }

    /// Writes records of an event into the ring that takes its output. False when there is no space.
    fn write(&mut self, number: usize, records: &[u8]) -> bool {
        self.write_at(number, self.now, records)
    }

    fn write_at(&mut self, number: usize, time: u64, records: &[u8]) -> bool {
        let output = self.outputs.get(&number).copied().unwrap_or(number);
        let Some(ring) = self.rings.get_mut(&output) else {
            return false;
        };
        let origin = Origin {
            event: &self.opened[number],
            id: id_of(number),
            time,
        };
        let written = ring.write(&origin, records);
        if !written {
            *self.lost.entry(number).or_default() += 1;
        }
        written
    }
}

fn id_of(number: usize) -> EventId {
    EventId(number as u64 + 1)
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
        let format = event.read_format();
        let mut state = self.state();
        if state.live[number].failed {
            return Err(ReadError::NotCounting);
        }
        let members = match format.contains(ReadFormat::GROUP) {
            true => state.group(number),
            false => vec![number],
        };
        let counts: Vec<FakeCount> = members.iter().map(|&member| state.count(member)).collect();
        Ok(counter_read(format, &members, &counts))
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

/// A read of these events in the layout that the format asks for.
fn counter_read(format: ReadFormat, members: &[usize], counts: &[FakeCount]) -> CounterRead {
    let times = counts.first().copied().unwrap_or_default();
    let when = |bit: ReadFormat, value: u64| format.contains(bit).then_some(value);
    let value = |(number, count): (&usize, &FakeCount)| CounterValue {
        value: count.value,
        id: format.contains(ReadFormat::ID).then_some(id_of(*number)),
        lost: when(ReadFormat::LOST, count.lost),
    };
    CounterRead {
        enabled: when(ReadFormat::TOTAL_TIME_ENABLED, times.enabled),
        running: when(ReadFormat::TOTAL_TIME_RUNNING, times.running),
        values: members.iter().zip(counts).map(value).collect(),
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
        self.state()
            .keep_ring(event, number, ring.size(), ring.writer());
        let state = Arc::clone(&self.state);
        ring.heard_by(Arc::new(RingListener { state, number }))
    }

    fn keep_trace(&self, number: usize, writer: TraceWriter) {
        let trace = FakeTrace::new(writer);
        self.state().traces.insert(number, trace);
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
