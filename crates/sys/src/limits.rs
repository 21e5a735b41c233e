//! Limits of this process.

use crate::errno::check;
use std::io;

/// Raises the number of files this process may have open to the hardest limit it can get, and returns it.
///
/// One event takes one file per CPU and thread, so the usual 1024 is soon too few.
///
/// # Errors
/// The kernel's answer.
pub fn raise_open_files() -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is live and of the kernel's layout.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    if limit.rlim_cur < limit.rlim_max {
        limit.rlim_cur = limit.rlim_max;
        // SAFETY: the struct is live and of the kernel's layout.
        check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    }
    Ok(limit.rlim_cur)
}

/// Returns whether the address space of this process is limited (`ulimit -v`).
pub fn is_address_space_limited() -> bool {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is live and of the kernel's layout; where the call fails it stays as it is.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) };
    limit.rlim_cur != libc::RLIM_INFINITY
}

#[cfg(test)]
mod tests {
    #[test]
    fn raising_twice_gives_the_same() {
        let first = super::raise_open_files().unwrap();
        assert!(first >= 64);
        assert_eq!(super::raise_open_files().unwrap(), first);
    }
}
