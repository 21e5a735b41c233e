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
    /// One that its number alone names.
    Numbered(i32),
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
            KernelClock::Numbered(number) => number,
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
    i32::try_from(local(moment).tm_gmtoff).unwrap_or(0)
}

/// A moment as a calendar and a clock of this system's time zone show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalTime {
    /// The year, as 2026.
    pub year: i32,
    /// From 1.
    pub month: i32,
    /// From 1.
    pub day: i32,
    /// To 23.
    pub hour: i32,
    /// To 59.
    pub minute: i32,
    /// To 60.
    pub second: i32,
}

impl LocalTime {
    /// The time at a moment, in seconds since 1970.
    pub fn at(moment: i64) -> LocalTime {
        let local = local(moment);
        LocalTime {
            year: local.tm_year.saturating_add(1900),
            month: local.tm_mon + 1,
            day: local.tm_mday,
            hour: local.tm_hour,
            minute: local.tm_min,
            second: local.tm_sec,
        }
    }
}

fn local(moment: i64) -> libc::tm {
    let mut local = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call, and localtime_r fills the struct or returns null; all its bytes
    // are zero, a valid value, if it does not.
    unsafe {
        libc::localtime_r(&moment, local.as_mut_ptr());
        local.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_offset_from_utc() {
        let moment = 951_782_400;
        let time = LocalTime::at(moment - i64::from(utc_offset(moment)));
        let midnight = LocalTime {
            year: 2000,
            month: 2,
            day: 29,
            hour: 0,
            minute: 0,
            second: 0,
        };
        assert_eq!(time, midnight);
    }

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
