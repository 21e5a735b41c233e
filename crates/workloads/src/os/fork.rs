//! A child process that is a copy of this one.

use std::io;

use crate::WorkloadError;

/// A child process.
#[must_use]
pub(crate) struct Child(libc::pid_t);

/// Forks; the child does the work and ends.
pub(crate) fn fork(work: impl FnOnce()) -> Result<Child, WorkloadError> {
    // SAFETY: workloads fork before they start threads, so the child is a whole process; where a program with threads
    // runs one, the child's work takes no lock that another thread could hold.
    match unsafe { libc::fork() } {
        -1 => Err(WorkloadError::system("start a process")(
            io::Error::last_os_error(),
        )),
        0 => {
            work();
            // SAFETY: ends this process alone; nothing of the parent's is written twice or run twice.
            unsafe { libc::_exit(0) }
        }
        child => Ok(Child(child)),
    }
}

impl Child {
    /// Waits until it ends.
    pub(crate) fn wait(self) -> Result<(), WorkloadError> {
        let mut status = 0;
        loop {
            // SAFETY: `status` is a place for the answer, and the child is this process's own.
            let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
            if waited == self.0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(WorkloadError::system("wait for a process")(error));
            }
        }
    }
}
