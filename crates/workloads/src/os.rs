//! The parts of workloads for which there is no safe form: forks, a system call of its own, code made at run time, and
//! instructions that trap.

mod code_page;
mod fork;
mod traps;

pub(crate) use code_page::{CodePage, LogMark, MADE_FUNCTION};
pub(crate) use fork::fork;
pub(crate) use traps::{counter, ignore_traps, trap};

use crate::WorkloadError;

/// Gives the calling process's main thread a name, of which 15 bytes count.
pub(crate) fn name_thread(name: &str) -> Result<(), WorkloadError> {
    std::fs::write("/proc/self/comm", name).map_err(WorkloadError::system("name the process"))
}

/// The number of `landlock_add_rule`, on every processor.
const LANDLOCK_ADD_RULE: libc::c_long = 445;

/// A rule for files below a folder, as the kernel reads it.
#[repr(C, packed)]
struct PathRule {
    allowed_access: u64,
    parent_fd: i32,
}

/// A rule for a port, as the kernel reads it.
#[repr(C)]
struct PortRule {
    allowed_access: u64,
    port: u64,
}

/// Asks for a rule of a folder; the descriptors and flags are no valid ones.
pub(crate) fn add_landlock_path_rule(ruleset: i32, flags: u32) {
    let rule = PathRule {
        allowed_access: 4,
        parent_fd: 14,
    };
    // SAFETY: the kernel only reads the rule, which lives through the call; a refusal is what is expected.
    unsafe { libc::syscall(LANDLOCK_ADD_RULE, ruleset, 1, &raw const rule, flags) };
}

/// Asks for a rule of a port.
pub(crate) fn add_landlock_port_rule(ruleset: i32, flags: u32) {
    let rule = PortRule {
        allowed_access: 2,
        port: 19,
    };
    // SAFETY: as above.
    unsafe { libc::syscall(LANDLOCK_ADD_RULE, ruleset, 2, &raw const rule, flags) };
}
