//! Facts about this process and its system.

use crate::errno::check;
use oxperf_abi::Tid;
use std::ffi::{CStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;

/// Bytes of a page.
pub fn page_size() -> usize {
    // SAFETY: the call takes a number only.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // The call cannot fail for this name; 4096 is the smallest page of any supported machine.
    usize::try_from(size).unwrap_or(4096)
}

/// The calling thread.
pub fn current_thread() -> Tid {
    // SAFETY: the call takes nothing and cannot fail.
    Tid(unsafe { libc::gettid() })
}

/// Whose rights this process has; 0 is root.
pub fn effective_user() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Lets this process run before all others of lower priorities, until it waits: `SCHED_FIFO`, from 1 to 99.
///
/// # Errors
/// `EINVAL` for another priority, `EPERM` without the right to it.
pub fn set_realtime_priority(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the kernel reads the parameters during the call and keeps no pointer.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) }).map(|_| ())
}

/// Ends this process without any of what usually happens at the end: nothing is flushed, no memory is needed.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: the call takes a number only and does not return.
    unsafe { libc::_exit(code) }
}

/// The names of the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemName {
    /// Network name of the host.
    pub host: OsString,
    /// Kernel release, as in `6.1.187`.
    pub release: OsString,
    /// Kernel version text.
    pub version: OsString,
    /// Architecture, as in `x86_64`.
    pub machine: OsString,
}

/// Asks the kernel for its name.
///
/// # Errors
/// The kernel's answer.
pub fn system_name() -> io::Result<SystemName> {
    // SAFETY: the struct is arrays of characters; zero is valid.
    let mut name: libc::utsname = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the struct is live.
    check(unsafe { libc::uname(&mut name) })?;
    Ok(SystemName {
        host: field(&name.nodename),
        release: field(&name.release),
        version: field(&name.version),
        machine: field(&name.machine),
    })
}

fn field(chars: &[libc::c_char]) -> OsString {
    let bytes: Vec<u8> = chars.iter().flat_map(|char| char.to_ne_bytes()).collect();
    let text = CStr::from_bytes_until_nul(&bytes)
        .map(CStr::to_bytes)
        .unwrap_or(&bytes);
    OsString::from_vec(text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_has_a_name_and_pages() {
        assert!(page_size().is_power_of_two());
        let name = system_name().unwrap();
        assert!(!name.release.is_empty() && !name.machine.is_empty());
    }
}
