//! The kernel's reasons to refuse an event.

use crate::Errno;

/// The answer of `perf_event_open(2)`, by meaning. [`OpenError::errno`] gives the number back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    /// `EACCES`: `perf_event_paranoid` or missing `CAP_PERFMON` forbids it.
    #[error("access denied")]
    AccessDenied,
    /// `EPERM`: forbidden by a security module, seccomp, or for this kind of event.
    #[error("operation not permitted")]
    NotPermitted,
    /// `ENOENT`: nothing here can count this event.
    #[error("no such event")]
    NoSuchEvent,
    /// `ENODEV`: the PMU lacks a needed feature.
    #[error("no such device")]
    NoDevice,
    /// `ENXIO`: the PMU is not there.
    #[error("no such PMU")]
    NoPmu,
    /// `ESRCH`: the task is gone.
    #[error("no such task")]
    NoSuchTask,
    /// `EOPNOTSUPP`: the PMU cannot do what the attribute asks (sampling, precision, branch stacks).
    #[error("operation not supported")]
    Unsupported,
    /// `EINVAL`: an argument or attribute that this kernel does not take.
    #[error("invalid argument")]
    Invalid,
    /// `E2BIG`: the attribute uses fields newer than the kernel.
    #[error("the attribute is newer than the kernel")]
    TooNew,
    /// `EMFILE`: this process has too many files open; raising its limit may help.
    #[error("too many open files")]
    ProcessFiles,
    /// `ENFILE`: the system has too many files open.
    #[error("too many open files in the system")]
    SystemFiles,
    /// `EBUSY`: somebody else uses the PMU exclusively.
    #[error("the counter is in use")]
    Busy,
    /// `ENOSPC`: no breakpoint register is left.
    #[error("no hardware breakpoint left")]
    NoSpace,
    /// `EOVERFLOW`: `sample_max_stack` is above `perf_event_max_stack`.
    #[error("sample_max_stack is above the system's limit")]
    StackTooDeep,
    /// `ENOSYS`: a kernel without performance events.
    #[error("the kernel has no performance events")]
    NotImplemented,
    /// `EBADF`: the group's leader or the cgroup's directory is not an open descriptor of that kind.
    #[error("no such open event or cgroup")]
    BadDescriptor,
    /// `EFAULT`: a text that the attribute points to, such as a probe's path, cannot be read.
    #[error("bad address")]
    BadAddress,
    /// `EINTR`: a signal came first, or something else uses the probe's place in another way.
    #[error("interrupted")]
    Interrupted,
    /// `ENOMEM`: the kernel has no memory for the event, its call chains or its traces.
    #[error("out of memory")]
    NoMemory,
    /// `ENODATA`: a load event of Intel that needs an auxiliary event before it in its group.
    #[error("the event needs an auxiliary event")]
    NoData,
    /// Any other answer.
    #[error("{0}")]
    Other(Errno),
}

const MEANINGS: [(i32, OpenError); 20] = [
    (libc::EACCES, OpenError::AccessDenied),
    (libc::EPERM, OpenError::NotPermitted),
    (libc::ENOENT, OpenError::NoSuchEvent),
    (libc::ENODEV, OpenError::NoDevice),
    (libc::ENXIO, OpenError::NoPmu),
    (libc::ESRCH, OpenError::NoSuchTask),
    (libc::EOPNOTSUPP, OpenError::Unsupported),
    (libc::EINVAL, OpenError::Invalid),
    (libc::E2BIG, OpenError::TooNew),
    (libc::EMFILE, OpenError::ProcessFiles),
    (libc::ENFILE, OpenError::SystemFiles),
    (libc::EBUSY, OpenError::Busy),
    (libc::ENOSPC, OpenError::NoSpace),
    (libc::EOVERFLOW, OpenError::StackTooDeep),
    (libc::ENOSYS, OpenError::NotImplemented),
    (libc::EBADF, OpenError::BadDescriptor),
    (libc::EFAULT, OpenError::BadAddress),
    (libc::EINTR, OpenError::Interrupted),
    (libc::ENOMEM, OpenError::NoMemory),
    (libc::ENODATA, OpenError::NoData),
];

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> OpenError {
        let known = MEANINGS.iter().find(|(number, _)| *number == errno.0);
        known.map_or(OpenError::Other(errno), |(_, meaning)| *meaning)
    }
}

impl OpenError {
    /// The kernel's number.
    pub fn errno(self) -> Errno {
        match self {
            OpenError::Other(errno) => errno,
            known => Errno(
                MEANINGS
                    .iter()
                    .find(|(_, meaning)| *meaning == known)
                    .map_or(libc::EIO, |(n, _)| *n),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        for number in 1..134 {
            assert_eq!(OpenError::from(Errno(number)).errno(), Errno(number));
        }
        assert_eq!(
            OpenError::from(Errno(libc::EACCES)),
            OpenError::AccessDenied
        );
        assert_eq!(
            OpenError::from(Errno(libc::EIO)),
            OpenError::Other(Errno(libc::EIO))
        );
    }
}
