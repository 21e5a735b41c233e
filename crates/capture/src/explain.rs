//! The reason why the kernel refused an event, in words: which setting forbids what, and the command that allows it.

use std::fmt;

use oxperf_sys::OpenError;

use crate::options::Target;

/// The settings and rights that decide whether an event may be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Permissions {
    /// `kernel.perf_event_paranoid`; `None` when the kernel has no performance events or hides it.
    pub paranoid: Option<i32>,
    /// `true` if this process may do what unprivileged ones may not (`CAP_PERFMON` or `CAP_SYS_ADMIN`).
    pub privileged: bool,
    /// `true` if system calls of this process are filtered, as in most containers.
    pub seccomp: bool,
    /// Files that this process may have open at once.
    pub open_files: Option<u64>,
}

/// The access that the refused event asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessRequest {
    /// All tasks of a CPU.
    pub cpu_wide: bool,
    /// Kernel mode.
    pub kernel: bool,
    /// A tracepoint.
    pub tracepoint: bool,
}

/// A refused event and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The event's name.
    pub event: String,
    /// The kernel's answer.
    pub error: OpenError,
    /// The setting or limit that forbids it.
    pub reason: Reason,
}

/// The reason why an event is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The setting `kernel.perf_event_paranoid`.
    Paranoid {
        /// Its value.
        value: i32,
        /// The highest value that allows the event.
        needed: i32,
    },
    /// A filter of system calls.
    Seccomp,
    /// The task belongs to somebody else.
    ForeignTask,
    /// A security module, or a lockdown of the kernel.
    SecurityModule,
    /// The machine cannot count it.
    NotSupported,
    /// The machine counts it but cannot interrupt on it.
    NoSampling,
    /// No such task.
    NoTask,
    /// Too many open files.
    OpenFiles {
        /// The limit.
        limit: Option<u64>,
    },
    /// The system's table of files is full.
    SystemFiles,
    /// Something else uses the counters alone.
    Busy,
    /// No free breakpoint.
    NoBreakpoint,
    /// The kernel was built without performance events.
    NoPerfEvents,
    /// The kernel does not take this attribute.
    Invalid,
    /// Nothing better is known than the kernel's answer.
    Unknown,
}

impl Explanation {
    /// Explains why `event` of a recording of `target` was refused with `error`.
    pub fn new(
        event: &str,
        error: OpenError,
        access: AccessRequest,
        target: &Target,
        permissions: Permissions,
    ) -> Explanation {
        let reason = match error {
            OpenError::AccessDenied | OpenError::NotPermitted => {
                denied(error, access, target, permissions)
            }
            OpenError::NoSuchEvent | OpenError::NoDevice | OpenError::NoPmu => Reason::NotSupported,
            OpenError::Unsupported => Reason::NoSampling,
            OpenError::NoSuchTask => Reason::NoTask,
            OpenError::ProcessFiles => Reason::OpenFiles {
                limit: permissions.open_files,
            },
            OpenError::SystemFiles => Reason::SystemFiles,
            OpenError::Busy => Reason::Busy,
            OpenError::NoSpace => Reason::NoBreakpoint,
            OpenError::NotImplemented if permissions.seccomp => Reason::Seccomp,
            OpenError::NotImplemented => Reason::NoPerfEvents,
            OpenError::Invalid | OpenError::TooNew | OpenError::StackTooDeep => Reason::Invalid,
            OpenError::Other(_) => Reason::Unknown,
        };
        Explanation {
            event: event.to_owned(),
            error,
            reason,
        }
    }
}

/// The highest value of the setting at which an unprivileged process may have the event.
fn highest_allowed(access: AccessRequest) -> i32 {
    match access {
        AccessRequest {
            tracepoint: true,
            cpu_wide: true,
            ..
        } => -1,
        AccessRequest { cpu_wide: true, .. } => 0,
        AccessRequest { kernel: true, .. } => 1,
        _ => 2,
    }
}

fn denied(
    error: OpenError,
    access: AccessRequest,
    target: &Target,
    permissions: Permissions,
) -> Reason {
    let needed = highest_allowed(access);
    match permissions.paranoid {
        Some(value) if !permissions.privileged && value > needed => {
            Reason::Paranoid { value, needed }
        }
        _ if permissions.seccomp && error == OpenError::NotPermitted => Reason::Seccomp,
        _ if !permissions.privileged
            && matches!(target, Target::Processes(_) | Target::Threads(_)) =>
        {
            Reason::ForeignTask
        }
        _ if permissions.seccomp => Reason::Seccomp,
        _ => Reason::SecurityModule,
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Failure to open event '{}': {}.",
            self.event,
            self.error.errno()
        )?;
        self.reason.fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Paranoid { value, needed } => write_paranoid(f, *value, *needed),
            Reason::OpenFiles { limit: Some(limit) } => write!(
                f,
                "More than {limit} files would be open at once. Allow more: ulimit -n {}\n\
                 or record fewer events, CPUs (-C) or threads.",
                limit.saturating_mul(8)
            ),
            other => f.write_str(other.text()),
        }
    }
}

fn write_paranoid(f: &mut fmt::Formatter<'_>, value: i32, needed: i32) -> fmt::Result {
    let what = match needed {
        ..0 => "tracepoints of other users' tasks",
        0 => "system-wide recording",
        1 => "recording the kernel",
        _ => "any performance event",
    };
    write!(
        f,
        "The setting kernel.perf_event_paranoid is {value}; without CAP_PERFMON that forbids {what}.\n\
         Allow it until the next boot: sudo sysctl kernel.perf_event_paranoid={needed}\n\
         or allow it to this program alone, for a group whose members may then watch everybody (GROUP, PROGRAM):\n\
         sudo chgrp GROUP PROGRAM && sudo chmod 0750 PROGRAM && sudo setcap cap_perfmon,cap_sys_ptrace=ep PROGRAM\n\
         or record as root."
    )
}

impl Reason {
    fn text(&self) -> &'static str {
        match self {
            Reason::Seccomp => {
                "A filter of system calls (seccomp) forbids perf_event_open, as containers do by default.\n\
                 Allow it: docker run --security-opt seccomp=unconfined --cap-add PERFMON ..."
            }
            Reason::ForeignTask => {
                "The task belongs to another user, or executes a set-user-id program.\n\
                 Record as root, or give the program CAP_PERFMON and CAP_SYS_PTRACE."
            }
            Reason::SecurityModule => {
                "A security module (SELinux, AppArmor) or the kernel's lockdown forbids it;\n\
                 dmesg may say which."
            }
            Reason::NotSupported => {
                "The event is not supported on this machine (virtual machines often have no hardware counters).\n\
                 cpu-clock and task-clock work everywhere."
            }
            Reason::NoSampling => {
                "This machine's counter cannot sample the event, or not with this modifier, branches or call-graph mode."
            }
            Reason::NoTask => "There is no such process or thread.",
            Reason::OpenFiles { .. } => {
                "Too many files are open at once. Allow more: ulimit -n 65536"
            }
            Reason::SystemFiles => {
                "Too many files are open in the whole system. Allow more: sudo sysctl fs.file-max=1000000"
            }
            Reason::Busy => {
                "Another tool uses the counter alone (the NMI watchdog?). Free it: sudo sysctl kernel.nmi_watchdog=0"
            }
            Reason::NoBreakpoint => "All hardware breakpoints are in use.",
            Reason::NoPerfEvents => {
                "This kernel was built without performance events (CONFIG_PERF_EVENTS)."
            }
            Reason::Invalid => {
                "This kernel or PMU does not take this combination of event, modifiers and options."
            }
            Reason::Paranoid { .. } | Reason::Unknown => "The kernel says no more; dmesg may.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: AccessRequest = AccessRequest {
        cpu_wide: false,
        kernel: true,
        tracepoint: false,
    };

    fn reason(
        error: OpenError,
        access: AccessRequest,
        target: &Target,
        permissions: Permissions,
    ) -> Reason {
        Explanation::new("cycles", error, access, target, permissions).reason
    }

    #[test]
    fn paranoid_says_what_it_forbids_and_what_would_do() {
        let permissions = Permissions {
            paranoid: Some(2),
            ..Permissions::default()
        };
        let denied = |access| {
            reason(
                OpenError::AccessDenied,
                access,
                &Target::Workload,
                permissions,
            )
        };
        assert_eq!(
            denied(KERNEL),
            Reason::Paranoid {
                value: 2,
                needed: 1
            }
        );
        assert_eq!(
            denied(AccessRequest {
                cpu_wide: true,
                ..KERNEL
            }),
            Reason::Paranoid {
                value: 2,
                needed: 0
            }
        );
        let text = Explanation::new(
            "cycles",
            OpenError::AccessDenied,
            KERNEL,
            &Target::Workload,
            permissions,
        )
        .to_string();
        assert!(text.contains("kernel.perf_event_paranoid is 2"), "{text}");
        assert!(
            text.contains("sudo sysctl kernel.perf_event_paranoid=1"),
            "{text}"
        );
    }

    #[test]
    fn other_guards() {
        let privileged = Permissions {
            paranoid: Some(2),
            privileged: true,
            seccomp: false,
            open_files: Some(1024),
        };
        let container = Permissions {
            seccomp: true,
            ..privileged
        };
        let eperm = |target: &Target, permissions| {
            reason(OpenError::NotPermitted, KERNEL, target, permissions)
        };
        assert_eq!(eperm(&Target::Workload, container), Reason::Seccomp);
        assert_eq!(eperm(&Target::Workload, privileged), Reason::SecurityModule);
        let ordinary = Permissions {
            paranoid: Some(-1),
            privileged: false,
            ..privileged
        };
        assert_eq!(
            eperm(&Target::Threads(Vec::new()), ordinary),
            Reason::ForeignTask
        );
        let files = reason(
            OpenError::ProcessFiles,
            KERNEL,
            &Target::AllCpus,
            privileged,
        );
        assert!(files.to_string().contains("ulimit -n 8192"), "{files}");
    }
}
