//! Changing an open event: the ioctls.

use crate::EventFd;
use crate::errno::check;
use oxperf_abi::EventId;
use std::ffi::CStr;
use std::io;
use std::os::fd::AsRawFd;

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
    pub(super) const PERIOD: Ioctl = libc::_IOW::<u64>(b'$' as u32, 4);
    pub(super) const SET_OUTPUT: Ioctl = none(5);
    pub(super) const SET_FILTER: Ioctl = libc::_IOW::<*const u8>(b'$' as u32, 6);
    pub(super) const ID: Ioctl = libc::_IOR::<*const u64>(b'$' as u32, 7);
    pub(super) const PAUSE_OUTPUT: Ioctl = libc::_IOW::<u32>(b'$' as u32, 9);
}

impl EventFd {
    /// Applies a change.
    ///
    /// # Errors
    /// The kernel's answer, for example `EINVAL` for a filter that it cannot parse.
    pub fn control(&self, control: Control<'_>) -> io::Result<()> {
        match control {
            Control::Enable(scope) => self.number(request::ENABLE, scope.flag()),
            Control::Disable(scope) => self.number(request::DISABLE, scope.flag()),
            Control::Reset(scope) => self.number(request::RESET, scope.flag()),
            Control::Period(mut period) => self.pointer(request::PERIOD, &mut period),
            Control::SetOutput(target) => {
                self.number(request::SET_OUTPUT, target.as_raw_fd().into())
            }
            Control::ClearOutput => self.number(request::SET_OUTPUT, -1),
            Control::SetFilter(text) => self.filter(text),
            Control::PauseOutput(pause) => self.number(request::PAUSE_OUTPUT, pause.into()),
        }
    }

    /// The kernel's id of the event, as samples carry it.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn id(&self) -> io::Result<EventId> {
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
