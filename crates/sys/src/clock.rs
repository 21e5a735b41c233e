//! Reading the clocks that `--clockid` names.

use crate::errno::check;
use std::io;
use std::time::Duration;

/// A clock of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum KernelClock {
    /// Wall time.
    Realtime,
    /// Steady, slewed by NTP, stops in suspend.
    Monotonic,
    /// Steady, never slewed.
    MonotonicRaw,
    /// Steady, runs through suspend.
    Boottime,
    /// International atomic time.
    Tai,
    /// CPU time of this process.
    ProcessCpu,
}

impl KernelClock {
    /// The number that `perf_event_attr.clockid` holds.
    pub fn id(self) -> i32 {
        match self {
            KernelClock::Realtime => libc::CLOCK_REALTIME,
            KernelClock::Monotonic => libc::CLOCK_MONOTONIC,
            KernelClock::MonotonicRaw => libc::CLOCK_MONOTONIC_RAW,
            KernelClock::Boottime => libc::CLOCK_BOOTTIME,
            KernelClock::Tai => libc::CLOCK_TAI,
            KernelClock::ProcessCpu => libc::CLOCK_PROCESS_CPUTIME_ID,
        }
    }

    /// The time now, since the clock's zero.
    ///
    /// # Errors
    /// `EINVAL` when this kernel has no such clock.
    pub fn now(self) -> io::Result<Duration> {
        // SAFETY: the closure passes a live timespec for the kernel to fill.
        read(|time| unsafe { libc::clock_gettime(self.id(), time) })
    }

    /// The smallest step that the clock can show.
    ///
    /// # Errors
    /// `EINVAL` when this kernel has no such clock.
    pub fn resolution(self) -> io::Result<Duration> {
        // SAFETY: the closure passes a live timespec for the kernel to fill.
        read(|time| unsafe { libc::clock_getres(self.id(), time) })
    }
}

fn read(fill: impl FnOnce(&mut libc::timespec) -> libc::c_int) -> io::Result<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    check(fill(&mut time))?;
    // A wall clock set before 1970 counts as 1970.
    Ok(Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    ))
}

/// Seconds east of UTC that this system's time zone has at a moment, in seconds since 1970.
///
/// 0 when the moment is outside what the zone knows.
pub fn utc_offset(moment: i64) -> i32 {
    let mut local = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call, and localtime_r fills the struct or returns null; all its bytes
    // are zero, a valid value, if it does not.
    let local = unsafe {
        libc::localtime_r(&moment, local.as_mut_ptr());
        local.assume_init()
    };
    i32::try_from(local.tm_gmtoff).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_clocks_do_not_go_back() {
        for clock in [
            KernelClock::Monotonic,
            KernelClock::MonotonicRaw,
            KernelClock::Boottime,
            KernelClock::ProcessCpu,
        ] {
            let first = clock.now().unwrap();
            assert!(clock.now().unwrap() >= first, "{clock:?}");
        }
        assert!(KernelClock::Monotonic.resolution().unwrap() > Duration::ZERO);
    }
}
