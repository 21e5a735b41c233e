//! The state of a fake kernel: its events with their counters, rings, traces and programs.

use super::counts::CountScripts;
use super::descriptor::{Bell, FarEnd};
use super::rings::{FakeRing, FakeTrace, Origin, TraceStream};
use super::schedule::LiveCounter;
use super::{FakeCall, FakeCount, OpenedEvent};
use crate::ring::{CounterPageWriter, RecordWriter};
use crate::{
    BpfProgramId, Control, ControlScope, CounterRead, CounterValue, Errno, EventFd, ReadError,
};
use oxperf_abi::{AttrFlags, EventAttr, EventId, EventType, ReadFormat};
use std::collections::HashMap;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, RawFd};

/// All that changes.
#[derive(Default)]
pub(super) struct State {
    pub(super) opened: Vec<OpenedEvent>,
    pub(super) live: Vec<LiveCounter>,
    /// The event behind a descriptor; the latest entry counts, as numbers are reused after closing.
    pub(super) descriptors: Vec<Descriptor>,
    pub(super) calls: Vec<FakeCall>,
    pub(super) counts: CountScripts,
    pub(super) rings: HashMap<usize, FakeRing>,
    pub(super) traces: HashMap<usize, FakeTrace>,
    pub(super) pages: HashMap<usize, CounterPageWriter>,
    /// Events whose records go to another's ring.
    pub(super) outputs: HashMap<usize, usize>,
    /// Events with a BPF program, in the order of attaching.
    pub(super) programs: Vec<usize>,
    /// Samples of each event that were lost.
    pub(super) lost: HashMap<usize, u64>,
    pub(super) restless: Vec<u8>,
    pub(super) stream: TraceStream,
    /// Nanoseconds since the beginning.
    pub(super) now: u64,
    pub(super) turn: usize,
}

/// A descriptor that was handed out.
pub(super) struct Descriptor {
    pub(super) fd: RawFd,
    pub(super) number: usize,
    pub(super) far: Option<FarEnd>,
}

impl State {
    pub(super) fn number(&self, event: &EventFd) -> Option<usize> {
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

    pub(super) fn remember_opened(
        &mut self,
        opened: OpenedEvent,
        live: LiveCounter,
        descriptor: Descriptor,
    ) {
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

    /// Reads an event, or its group.
    pub(super) fn read(
        &mut self,
        number: usize,
        format: ReadFormat,
    ) -> Result<CounterRead, ReadError> {
        if self.live[number].failed {
            return Err(ReadError::NotCounting);
        }
        let members = match format.contains(ReadFormat::GROUP) {
            true => self.group(number),
            false => vec![number],
        };
        let counts: Vec<FakeCount> = members.iter().map(|&member| self.count(member)).collect();
        Ok(counter_read(format, &members, &counts))
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
    pub(super) fn programs(&self, number: usize) -> Vec<BpfProgramId> {
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
    pub(super) fn control(&mut self, number: usize, control: Control<'_>) -> io::Result<FakeCall> {
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
    pub(super) fn keep_ring(
        &mut self,
        event: &EventFd,
        number: usize,
        size: usize,
        writer: RecordWriter,
    ) {
        let far = self.descriptor(event).and_then(|entry| entry.far.as_ref());
        let bell = Bell::of(event, far);
        let attr = &self.opened[number].attr;
        let ring = FakeRing::new(attr, size, writer, bell);
        self.rings.insert(number, ring);
        self.refill(number);
    }

    /// Writes the records that never cease.
    pub(super) fn refill(&mut self, number: usize) {
        let restless = std::mem::take(&mut self.restless);
        if !restless.is_empty() {
            self.write(number, &restless);
        }
        self.restless = restless;
    }

    /// Writes records of an event into the ring that takes its output. False when there is no space.
    pub(super) fn write(&mut self, number: usize, records: &[u8]) -> bool {
        self.write_at(number, self.now, records)
    }

    pub(super) fn write_at(&mut self, number: usize, time: u64, records: &[u8]) -> bool {
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

/// The id of an event.
pub(super) fn id_of(number: usize) -> EventId {
    EventId(number as u64 + 1)
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
