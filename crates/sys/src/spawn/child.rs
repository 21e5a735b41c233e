//! The child between fork and exec.

use super::image::{ImagePointers, SHELL};
use std::os::fd::RawFd;

/// The child's ends of the two pipes, and the one it must not keep.
pub(super) struct Gate {
    pub(super) hold: RawFd,
    pub(super) release: RawFd,
    pub(super) report: RawFd,
    pub(super) output_to_error: bool,
}

/// The child between fork and exec. Only async-signal-safe calls: other threads of the parent may have held locks.
pub(super) fn run_child(gate: &Gate, image: &mut ImagePointers) -> ! {
    const NOT_FOUND: libc::c_int = 127;
    // SAFETY: every call is async-signal-safe and takes numbers or pointers to live memory of this process' copy.
    unsafe {
        // Without this our own copy of the writing end would keep the gate open after the parent's death.
        libc::close(gate.release);
        if gate.output_to_error {
            // Where that fails the program has no output, which spoils nothing.
            libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut byte = 0u8;
        let released = loop {
            let length = libc::read(gate.hold, (&raw mut byte).cast(), 1);
            if length >= 0 || *libc::__errno_location() != libc::EINTR {
                break length == 1;
            }
        };
        if released {
            let errno = execute(image);
            libc::write(
                gate.report,
                (&raw const errno).cast(),
                size_of::<libc::c_int>(),
            );
        }
        libc::_exit(NOT_FOUND)
    }
}

/// Tries each candidate as `execvp` does; returns only when none could be executed: `EACCES` if one was found but
/// forbidden, else the last error.
///
/// # Safety
/// The pointers are those of a live [`Image`].
unsafe fn execute(image: &mut ImagePointers) -> libc::c_int {
    let mut answer = libc::ENOENT;
    for path in image.candidates.iter().take_while(|path| !path.is_null()) {
        // SAFETY: the caller vouches for the pointers.
        match unsafe { execute_at(*path, &image.arguments, &image.environment) } {
            libc::EACCES => answer = libc::EACCES,
            libc::ENOENT | libc::ENOTDIR => {}
            libc::ENOEXEC => {
                if let Some(script) = image.shell_arguments.get_mut(1) {
                    *script = *path;
                }
                // SAFETY: as above; the shell's name is static.
                return unsafe {
                    execute_at(SHELL.as_ptr(), &image.shell_arguments, &image.environment)
                };
            }
            other => return other,
        }
    }
    answer
}

/// One try; returns the error number, if at all.
///
/// # Safety
/// The pointers are to live texts, and the lists end with a null pointer.
unsafe fn execute_at(
    path: *const libc::c_char,
    arguments: &[*const libc::c_char],
    environment: &[*const libc::c_char],
) -> libc::c_int {
    // SAFETY: the caller vouches for the pointers; errno is this thread's own.
    unsafe {
        libc::execve(path, arguments.as_ptr(), environment.as_ptr());
        *libc::__errno_location()
    }
}
