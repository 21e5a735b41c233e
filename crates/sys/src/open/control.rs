//! Changing an open event: the ioctls.

use super::attr::RawAttr;
use crate::errno::check;
use crate::{Errno, EventFd};
use oxperf_abi::{EventAttr, EventId};
use std::ffi::CStr;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Whom a change concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ControlScope {
    /// The event alone.
    #[default]
    Event,
    /// The event's whole group.
    Group,
}

/// A change to an open event.
#[derive(Clone, Copy, Debug)]
pub enum Control<'a> {
    /// Starts counting.
    Enable(ControlScope),
    /// Stops counting.
    Disable(ControlScope),
    /// Sets the count to zero; times stay.
    Reset(ControlScope),
    /// Starts an event that samples, for so many overflows more; then the kernel stops it and says that it hung up. The
    /// members of a leader start and stop with it. Inherited events cannot be told to.
    Refresh(NonZeroU32),
    /// Sets a new period (or frequency, for an event that has one).
    Period(u64),
    /// Sends the output to the ring of another event.
    SetOutput(&'a EventFd),
    /// Takes the output back from another event's ring.
    ClearOutput,
    /// Sets a tracepoint or address filter.
    SetFilter(&'a CStr),
    /// Pauses (`true`) or resumes writing to the ring.
    PauseOutput(bool),
    /// Runs a loaded BPF program at each hit of a tracepoint or probe, or at each overflow of another event. It stays
    /// until the event is closed.
    SetBpf(BorrowedFd<'a>),
    /// Gives a breakpoint another address, length or access. The kernel takes this from no other event.
    ModifyAttributes(&'a EventAttr),
}

/// The kernel's id of a BPF program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BpfProgramId(pub u32);

/// Programs that the kernel attaches to one event at most (`BPF_TRACE_MAX_PROGS`).
const MOST_PROGRAMS: usize = 64;

/// `struct perf_event_query_bpf` with room for every program that can be there.
#[repr(C)]
struct ProgramQuery {
    room: u32,
    count: u32,
    ids: [u32; MOST_PROGRAMS],
}

/// `_IO('$', nr)`, `_IOW('$', nr, T)` and `_IOR('$', nr, T)` as this architecture encodes them.
mod request {
    use libc::Ioctl;
    const fn none(nr: u32) -> Ioctl {
        libc::_IO(b'$' as u32, nr)
    }
    pub(super) const ENABLE: Ioctl = none(0);
    pub(super) const DISABLE: Ioctl = none(1);
    pub(super) const RESET: Ioctl = none(3);
    pub(super) const REFRESH: Ioctl = none(2);
    pub(super) const PERIOD: Ioctl = libc::_IOW::<u64>(b'$' as u32, 4);
    pub(super) const SET_OUTPUT: Ioctl = none(5);
    pub(super) const SET_FILTER: Ioctl = libc::_IOW::<*const u8>(b'$' as u32, 6);
    pub(super) const ID: Ioctl = libc::_IOR::<*const u64>(b'$' as u32, 7);
    pub(super) const SET_BPF: Ioctl = libc::_IOW::<u32>(b'$' as u32, 8);
    pub(super) const PAUSE_OUTPUT: Ioctl = libc::_IOW::<u32>(b'$' as u32, 9);
    pub(super) const QUERY_BPF: Ioctl = libc::_IOWR::<*mut u32>(b'$' as u32, 10);
    pub(super) const MODIFY_ATTRIBUTES: Ioctl = libc::_IOW::<*const u8>(b'$' as u32, 11);
}

impl EventFd {
    /// Applies a change.
    ///
    /// # Errors
    /// The kernel's answer, for example `EINVAL` for a filter that it cannot parse.
    pub(crate) fn control(&self, control: Control<'_>) -> io::Result<()> {
        match control {
            Control::Enable(scope) => self.number(request::ENABLE, scope.flag()),
            Control::Disable(scope) => self.number(request::DISABLE, scope.flag()),
            Control::Reset(scope) => self.number(request::RESET, scope.flag()),
            Control::Refresh(overflows) => self.refresh(overflows),
            Control::Period(mut period) => self.pointer(request::PERIOD, &mut period),
            Control::SetOutput(target) => {
                self.number(request::SET_OUTPUT, target.as_raw_fd().into())
            }
            Control::ClearOutput => self.number(request::SET_OUTPUT, -1),
            Control::SetFilter(text) => self.filter(text),
            Control::PauseOutput(pause) => self.number(request::PAUSE_OUTPUT, pause.into()),
            Control::SetBpf(program) => self.number(request::SET_BPF, program.as_raw_fd().into()),
            Control::ModifyAttributes(attr) => self.modify(attr),
        }
    }

    /// The BPF programs that run at the tracepoint or probe of this event, those of other events there among them.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` for an event that is neither, `EACCES` or `EPERM` without `CAP_PERFMON`.
    pub(crate) fn bpf_programs(&self) -> io::Result<Vec<BpfProgramId>> {
        let mut query = ProgramQuery {
            room: MOST_PROGRAMS as u32,
            count: 0,
            ids: [0; MOST_PROGRAMS],
        };
        // SAFETY: the kernel writes the count and at most `room` ids, which the struct has space for; it is live and
        // unshared.
        check(unsafe { libc::ioctl(self.as_raw_fd(), request::QUERY_BPF, &raw mut query) })?;
        let count = (query.count as usize).min(MOST_PROGRAMS);
        Ok(query.ids[..count]
            .iter()
            .map(|&id| BpfProgramId(id))
            .collect())
    }

    /// The kernel's id of the event, as samples carry it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn id(&self) -> io::Result<EventId> {
        let mut id = 0u64;
        self.pointer(request::ID, &mut id)?;
        Ok(EventId(id))
    }

    fn number(&self, request: libc::Ioctl, value: libc::c_long) -> io::Result<()> {
        // SAFETY: the requests passed here take their argument as a number.
        check(unsafe { libc::ioctl(self.as_raw_fd(), request, value) }).map(drop)
    }

    fn pointer(&self, request: libc::Ioctl, value: &mut u64) -> io::Result<()> {
        // SAFETY: the requests passed here read or write one u64 through the pointer, which is live and unshared.
        check(unsafe { libc::ioctl(self.as_raw_fd(), request, value as *mut u64) }).map(drop)
    }

    /// The kernel takes the number as a signed one.
    fn refresh(&self, overflows: NonZeroU32) -> io::Result<()> {
        let overflows = i32::try_from(overflows.get()).map_err(|_| Errno(libc::EINVAL))?;
        self.number(request::REFRESH, overflows.into())
    }

    fn modify(&self, attr: &EventAttr) -> io::Result<()> {
        let mut raw = RawAttr::new(attr);
        // SAFETY: `raw` is a live `perf_event_attr` of at least `raw.size` bytes, mutable as for the opening.
        check(unsafe { libc::ioctl(self.as_raw_fd(), request::MODIFY_ATTRIBUTES, &raw mut raw) })
            .map(drop)
    }

    fn filter(&self, text: &CStr) -> io::Result<()> {
        // SAFETY: the kernel reads a NUL-terminated text, which a CStr is.
        check(unsafe { libc::ioctl(self.as_raw_fd(), request::SET_FILTER, text.as_ptr()) })
            .map(drop)
    }
}

impl ControlScope {
    fn flag(self) -> libc::c_long {
        match self {
            ControlScope::Event => 0,
            ControlScope::Group => 1,
        }
    }
}
