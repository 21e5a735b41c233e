//! A workload that waits for permission before it executes.
//!
//! Events are opened on the workload's process id while it is still this program, held at a pipe; with
//! `enable_on_exec` they begin to count exactly when the wanted program does.
//!
//! ```text
//! parent: fork --- open events --- release ------- outcome: closed pipe, or the error number
//! child:      \--- wait for one byte ------- exec -/
//! ```

mod child;
mod image;

use crate::Errno;
use crate::errno::check;
use child::{Gate, run_child};
use image::Image;
use oxperf_abi::Pid;
use std::ffi::{NulError, OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// The program to execute.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadSpec<'a> {
    /// The program's name, then its arguments.
    pub arguments: &'a [OsString],
    /// Its whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// The folders to search for a name without a slash: the value of `PATH`.
    pub search_path: Option<&'a OsStr>,
    /// Its standard output goes to standard error: the caller's own output is for something else.
    pub output_to_error: bool,
}

/// The reason why a workload did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No program was named.
    #[error("no program to run")]
    Empty,
    /// An argument or variable holds a NUL byte.
    #[error("an argument holds a NUL byte at {}", .0.nul_position())]
    Nul(#[from] NulError),
    /// No pipe, no process.
    #[error("cannot start a process: {0}")]
    Fork(io::Error),
    /// The program could not be executed: not found, not executable.
    #[error("{errno}")]
    Exec {
        /// The kernel's number.
        errno: Errno,
    },
    /// The child ended before it was released.
    #[error("the process ended before it could run the program")]
    Gone,
}

/// A child process that executes its program when it is released.
///
/// Dropped before its start it goes away without executing; dropped later it keeps running.
#[derive(Debug)]
pub struct Workload {
    pid: Pid,
    /// Until the start: the writing end that releases the child, the reading end that reports the outcome.
    gate: Option<(PipeWriter, PipeReader)>,
    status: Option<ExitStatus>,
    usage: Option<CpuUsage>,
}

/// The processor time that a process and its children took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuUsage {
    /// In user mode.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
}

impl CpuUsage {
    fn new(usage: &libc::rusage) -> CpuUsage {
        let duration = |time: libc::timeval| {
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
            Duration::from_secs(seconds) + Duration::from_micros(microseconds)
        };
        CpuUsage {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
        }
    }
}

impl Workload {
    /// Forks; the child waits for [`Workload::start`]. It inherits working directory and standard streams, and
    /// what its signals do (`SIGPIPE` excepted, which Rust programs ignore and the child gets back).
    ///
    /// # Errors
    /// [`SpawnError::Empty`], [`SpawnError::Nul`] or [`SpawnError::Fork`].
    pub fn spawn(spec: &WorkloadSpec<'_>) -> Result<Workload, SpawnError> {
        let image = Image::prepare(spec)?;
        let (hold, release) = pipe().map_err(SpawnError::Fork)?;
        let (outcome, report) = pipe().map_err(SpawnError::Fork)?;
        let gate = Gate {
            hold: hold.as_raw_fd(),
            release: release.as_raw_fd(),
            report: report.as_raw_fd(),
            output_to_error: spec.output_to_error,
        };
        let mut pointers = image.pointers();
        // SAFETY: the child calls only async-signal-safe functions, on memory prepared above, and never returns.
        match unsafe { libc::fork() } {
            0 => run_child(&gate, &mut pointers),
            pid => {
                check(pid).map_err(SpawnError::Fork)?;
                Ok(Workload {
                    pid: Pid(pid),
                    gate: Some((release, outcome)),
                    status: None,
                    usage: None,
                })
            }
        }
    }

    /// The child's process id.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Lets the child execute its program and waits until it has, or could not. A second start does nothing.
    ///
    /// # Errors
    /// [`SpawnError::Exec`] when the program could not be executed; the child has ended then.
    pub fn start(&mut self) -> Result<(), SpawnError> {
        let Some((mut release, mut outcome)) = self.gate.take() else {
            return Ok(());
        };
        release
            .write_all(&[1])
            .map_err(|error| match error.kind() {
                io::ErrorKind::BrokenPipe => SpawnError::Gone,
                _ => SpawnError::Fork(error),
            })?;
        drop(release);
        let mut report = Vec::new();
        // The report's writing end closes on exec: no bytes mean success.
        outcome.read_to_end(&mut report).map_err(SpawnError::Fork)?;
        match report.first_chunk() {
            Some(errno) => Err(SpawnError::Exec {
                errno: Errno(i32::from_ne_bytes(*errno)),
            }),
            None => Ok(()),
        }
    }

    /// The status with which the child ended, or `None` while it runs. Does not wait.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.reap(libc::WNOHANG)?;
        Ok(self.status)
    }

    /// The processor time that the child took, once its end is known.
    pub fn usage(&self) -> Option<CpuUsage> {
        self.usage
    }

    /// Waits until the child ends. A child that was not started waits for ever: start it first.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            self.reap(0)?;
            if let Some(status) = self.status {
                return Ok(status);
            }
        }
    }

    /// Sends a signal to the child unless it has ended.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        // SAFETY: numbers only; the child has not been waited for, so the id is still its own.
        check(unsafe { libc::kill(self.pid.0, number) }).map(drop)
    }

    /// Ends the child at once unless it has ended, whatever it does about signals.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn kill(&self) -> io::Result<()> {
        self.signal(libc::SIGKILL)
    }

    fn reap(&mut self, flags: libc::c_int) -> io::Result<()> {
        if self.status.is_some() {
            return Ok(());
        }
        let mut status = 0;
        // SAFETY: zero is a valid value of every field.
        let mut usage: libc::rusage = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: status and usage are live; the id is that of our child, which has not been waited for.
        match check(unsafe { libc::wait4(self.pid.0, &mut status, flags, &mut usage) }) {
            Ok(0) => Ok(()),
            Ok(_) => {
                self.status = Some(ExitStatus::from_raw(status));
                self.usage = Some(CpuUsage::new(&usage));
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        if self.gate.take().is_some() {
            // The closed gate makes the child leave at once; nobody else would collect it.
            let _ = self.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spawn(arguments: &[&str]) -> Result<Workload, SpawnError> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let environment = [("GREETING".into(), "7".into())];
        let search_path = Some(OsStr::new("/nonexistent:/usr/bin:/bin"));
        Workload::spawn(&WorkloadSpec {
            arguments: &arguments,
            environment: &environment,
            search_path,
            output_to_error: false,
        })
    }

    #[test]
    fn runs_when_released_and_gives_its_status() {
        let mut workload = spawn(&["sh", "-c", "exit $GREETING"]).unwrap();
        assert_eq!(workload.try_wait().unwrap(), None);
        assert_eq!(workload.usage(), None);
        workload.start().unwrap();
        assert_eq!(workload.wait().unwrap().code(), Some(7));
        let usage = workload.usage().unwrap();
        assert!(usage.user + usage.system < Duration::from_secs(60));
        assert_eq!(workload.try_wait().unwrap().unwrap().code(), Some(7));
    }

    #[test]
    fn the_signal_is_reported() {
        let mut workload = spawn(&["sleep", "60"]).unwrap();
        workload.start().unwrap();
        workload.signal(libc::SIGTERM).unwrap();
        assert_eq!(workload.wait().unwrap().signal(), Some(libc::SIGTERM));
        workload.signal(libc::SIGTERM).unwrap();
    }

    #[test]
    fn a_failed_exec_is_reported() {
        let mut missing = spawn(&["no-such-program-here"]).unwrap();
        assert!(matches!(
            missing.start(),
            Err(SpawnError::Exec {
                errno: Errno(libc::ENOENT)
            })
        ));
        let mut forbidden = spawn(&["/etc/passwd"]).unwrap();
        assert!(matches!(
            forbidden.start(),
            Err(SpawnError::Exec {
                errno: Errno(libc::EACCES)
            })
        ));
        assert_eq!(forbidden.wait().unwrap().code(), Some(127));
    }

    #[test]
    fn a_script_without_a_format_goes_to_the_shell() {
        let path = std::env::temp_dir().join(format!("oxperf-script-{}", std::process::id()));
        // Written by another process: a child of a test beside this one could hold our descriptor open for
        // writing, and then the file cannot be executed.
        let write = format!("echo 'exit $1' > {0}; chmod 700 {0}", path.display());
        let mut writer = spawn(&["sh", "-c", &write]).unwrap();
        writer.start().unwrap();
        assert!(writer.wait().unwrap().success());
        let mut workload = spawn(&[path.to_str().unwrap(), "5"]).unwrap();
        workload.start().unwrap();
        assert_eq!(workload.wait().unwrap().code(), Some(5));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn nothing_to_run() {
        assert!(matches!(spawn(&[]), Err(SpawnError::Empty)));
        assert!(matches!(spawn(&["a\0b"]), Err(SpawnError::Nul(_))));
    }

    #[test]
    fn dropped_before_its_start_it_goes_away() {
        let workload = spawn(&["sleep", "60"]).unwrap();
        let pid = workload.pid();
        drop(workload);
        // SAFETY: numbers only; signal 0 sends nothing.
        assert_eq!(unsafe { libc::kill(pid.0, 0) }, -1);
    }
}
