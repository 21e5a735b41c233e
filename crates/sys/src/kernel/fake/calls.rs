//! The calls that a fake kernel remembers, as values that tests compare.

use crate::kernel::OwnEvents;
use crate::{AuxPages, ControlScope, EventTask, Notification, OpenFlags, RingPages};
use oxperf_abi::{Cpu, EventAttr, Tid};
use std::num::NonZeroU32;

/// Whose execution a remembered event counts; [`EventTask`] without a borrowed descriptor.
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
    /// The attribute.
    pub attr: EventAttr,
    /// Whose execution.
    pub task: OpenedTask,
    /// The CPU; `None` for every CPU.
    pub cpu: Option<Cpu>,
    /// Number of the group's leader.
    pub group: Option<usize>,
    /// Flags.
    pub flags: OpenFlags,
}

/// A call after opening, with the number of the event that it concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FakeCall {
    /// [`Control::Enable`](crate::Control::Enable).
    Enable(usize, ControlScope),
    /// [`Control::Disable`](crate::Control::Disable).
    Disable(usize, ControlScope),
    /// [`Control::Reset`](crate::Control::Reset).
    Reset(usize, ControlScope),
    /// [`Control::Refresh`](crate::Control::Refresh).
    Refresh(usize, NonZeroU32),
    /// [`Control::Period`](crate::Control::Period).
    Period(usize, u64),
    /// [`Control::SetOutput`](crate::Control::SetOutput) to the second event's ring.
    SetOutput(usize, usize),
    /// [`Control::ClearOutput`](crate::Control::ClearOutput).
    ClearOutput(usize),
    /// [`Control::SetFilter`](crate::Control::SetFilter).
    SetFilter(usize, String),
    /// [`Control::PauseOutput`](crate::Control::PauseOutput).
    PauseOutput(usize, bool),
    /// [`Control::SetBpf`](crate::Control::SetBpf).
    SetBpf(usize),
    /// [`Control::ModifyAttributes`](crate::Control::ModifyAttributes).
    ModifyAttributes(usize, EventAttr),
    /// [`Kernel::notify`](crate::Kernel::notify).
    Notify(usize, Option<Notification>),
    /// [`Kernel::set_blocking`](crate::Kernel::set_blocking).
    SetBlocking(usize, bool),
    /// [`Kernel::control_own_events`](crate::Kernel::control_own_events).
    OwnEvents(OwnEvents),
    /// A ring of records was mapped.
    MapRing(usize, RingPages),
    /// The page of the counter was mapped.
    MapCounterPage(usize),
    /// A ring of the newest records was mapped.
    MapBackwardRing(usize, RingPages),
    /// A ring of records was mapped with an AUX area whose whole trace is read.
    MapAux(usize, AuxPages),
    /// A ring of records was mapped with an AUX area for snapshots.
    MapAuxSnapshot(usize, AuxPages),
}

impl From<EventTask<'_>> for OpenedTask {
    fn from(task: EventTask<'_>) -> OpenedTask {
        match task {
            EventTask::Any => OpenedTask::Any,
            EventTask::Caller => OpenedTask::Caller,
            EventTask::Thread(tid) => OpenedTask::Thread(tid),
            EventTask::Cgroup(_) => OpenedTask::Cgroup,
        }
    }
}
