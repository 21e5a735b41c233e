//! A request to open an event: attribute, task, CPU, group.

use super::attr::RawAttr;
use crate::EventFd;
use oxperf_abi::{Cpu, EventAttr, Tid};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Whose execution an event counts.
#[derive(Clone, Copy, Debug)]
pub enum EventTask<'a> {
    /// Everybody; needs a CPU.
    Any,
    /// The calling thread.
    Caller,
    /// One thread (and, with `inherit`, what it starts).
    Thread(Tid),
    /// The tasks of a cgroup, given by its open directory; needs a CPU.
    Cgroup(BorrowedFd<'a>),
}

impl EventTask<'_> {
    /// The `pid` argument of the system call.
    pub(super) fn raw(self) -> libc::pid_t {
        match self {
            EventTask::Any => -1,
            EventTask::Caller => 0,
            EventTask::Thread(tid) => tid.0,
            EventTask::Cgroup(directory) => directory.as_raw_fd(),
        }
    }
}

/// Flags of the system call; descriptors are always closed on exec.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OpenFlags {
    /// Ignore the group, except for output (`PERF_FLAG_FD_NO_GROUP`).
    pub no_group: bool,
    /// Send the output to the group's ring (`PERF_FLAG_FD_OUTPUT`).
    pub output: bool,
}

/// One call of `perf_event_open(2)`.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest<'a> {
    /// The event to count.
    pub attr: &'a EventAttr,
    /// Whose execution.
    pub task: EventTask<'a>,
    /// The CPU; `None` for every CPU.
    pub cpu: Option<Cpu>,
    /// The leader, when the event is a group's member.
    pub group: Option<&'a EventFd>,
    /// Rarely needed flags.
    pub flags: OpenFlags,
}

/// The numbers that the system call gets for a request, as the kernel and perf's messages write them: -1 stands for
/// everybody, every CPU and no group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenArguments {
    /// The bytes of the attribute.
    pub attr_size: u32,
    /// The thread, or the descriptor of a cgroup's directory.
    pub pid: i32,
    /// The CPU.
    pub cpu: i32,
    /// The descriptor of the group's leader.
    pub group: i32,
    /// The flags' bits.
    pub flags: u64,
}

impl<'a> OpenRequest<'a> {
    /// A request for `task` on every CPU, outside any group.
    pub fn new(attr: &'a EventAttr, task: EventTask<'a>) -> OpenRequest<'a> {
        OpenRequest {
            attr,
            task,
            cpu: None,
            group: None,
            flags: OpenFlags::default(),
        }
    }

    /// The numbers that the system call gets.
    pub fn arguments(&self) -> OpenArguments {
        OpenArguments {
            attr_size: RawAttr::new(self.attr).size,
            pid: self.task.raw(),
            cpu: self.raw_cpu(),
            group: self.group.map_or(-1, AsRawFd::as_raw_fd),
            flags: self.raw_flags(),
        }
    }

    /// The `cpu` argument of the system call. A number beyond its range cannot be any CPU; the kernel refuses it.
    pub(super) fn raw_cpu(&self) -> libc::c_int {
        self.cpu.map_or(-1, |cpu| {
            libc::c_int::try_from(cpu.0).unwrap_or(libc::c_int::MAX)
        })
    }

    /// The `flags` argument of the system call.
    pub(super) fn raw_flags(&self) -> libc::c_ulong {
        const NO_GROUP: libc::c_ulong = 1;
        const OUTPUT: libc::c_ulong = 2;
        const PID_CGROUP: libc::c_ulong = 4;
        const CLOEXEC: libc::c_ulong = 8;
        let when = |on: bool, bit: libc::c_ulong| if on { bit } else { 0 };
        CLOEXEC
            | when(self.flags.no_group, NO_GROUP)
            | when(self.flags.output, OUTPUT)
            | when(matches!(self.task, EventTask::Cgroup(_)), PID_CGROUP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_the_call() {
        let attr = EventAttr::default();
        let request = OpenRequest::new(&attr, EventTask::Any);
        assert_eq!(
            (request.task.raw(), request.raw_cpu(), request.raw_flags()),
            (-1, -1, 8)
        );
        let arguments = OpenArguments {
            attr_size: 64,
            pid: -1,
            cpu: -1,
            group: -1,
            flags: 8,
        };
        assert_eq!(request.arguments(), arguments);
        let request = OpenRequest {
            cpu: Some(Cpu(3)),
            task: EventTask::Thread(Tid(7)),
            ..request
        };
        assert_eq!((request.task.raw(), request.raw_cpu()), (7, 3));
        let flags = OpenFlags {
            no_group: true,
            output: true,
        };
        assert_eq!(OpenRequest { flags, ..request }.raw_flags(), 11);
        assert_eq!(
            OpenRequest {
                cpu: Some(Cpu(u32::MAX)),
                ..request
            }
            .raw_cpu(),
            i32::MAX
        );
    }
}
