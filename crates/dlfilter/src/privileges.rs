//! Rights of this process beyond its user, given up before foreign code is loaded.
//!
//! A program that was given capabilities, so that a group of users can record with it, would lend them to whatever object
//! one of them names.

use std::io;
use std::ptr;

use crate::DlfilterError;

/// The version of the kernel's interface that has two words of each set.
const VERSION: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

const NONE: [Sets; 2] = [Sets {
    effective: 0,
    permitted: 0,
    inheritable: 0,
}; 2];

/// Becomes the user who started this process, without any capability and without a way to new ones.
///
/// # Errors
/// Something is left: nothing foreign may be loaded.
pub(crate) fn give_up() -> Result<(), DlfilterError> {
    let refused = |error: io::Error| {
        DlfilterError::Load(format!(
            "this process cannot give up its privileges before: {error}"
        ))
    };
    become_caller().map_err(refused)?;
    drop_capabilities().map_err(refused)?;
    match has_privileges().map_err(refused)? {
        true => Err(refused(io::ErrorKind::PermissionDenied.into())),
        false => Ok(()),
    }
}

/// Takes the user and group back that a set-user-id or set-group-id file replaced.
fn become_caller() -> io::Result<()> {
    // SAFETY: the calls take numbers only.
    unsafe {
        let (user, group) = (libc::getuid(), libc::getgid());
        if libc::getegid() != group {
            check(libc::setresgid(group, group, group))?;
        }
        if libc::geteuid() != user {
            check(libc::setresuid(user, user, user))?;
        }
        Ok(())
    }
}

fn drop_capabilities() -> io::Result<()> {
    let header = Header {
        version: VERSION,
        pid: 0,
    };
    // SAFETY: the calls take numbers, and live structs of the kernel's layout.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        // Kernels before 4.3 have no such set.
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        );
        check(
            libc::syscall(libc::SYS_capset, &raw const header, ptr::from_ref(&NONE)) as libc::c_int,
        )
    }
}

fn has_privileges() -> io::Result<bool> {
    let mut header = Header {
        version: VERSION,
        pid: 0,
    };
    let mut left = NONE;
    // SAFETY: as above; the kernel fills two entries at this version.
    unsafe {
        check(libc::syscall(libc::SYS_capget, &raw mut header, &raw mut left) as libc::c_int)?;
        Ok(left != NONE || libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid())
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
