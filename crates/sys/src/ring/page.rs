//! The first page of a ring: positions and clock conversion, as the kernel publishes them.

use std::ptr::{NonNull, addr_of};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// The used part of `struct perf_event_mmap_page`.
#[repr(C)]
pub(super) struct ControlPage {
    version: u32,
    compat_version: u32,
    lock: AtomicU32,
    index: u32,
    offset: i64,
    time_enabled: u64,
    time_running: u64,
    capabilities: u64,
    pmc_width: u16,
    time_shift: u16,
    time_mult: u32,
    time_offset: u64,
    time_zero: u64,
    size: u32,
    reserved_1: u32,
    time_cycles: u64,
    time_mask: u64,
    reserved: [u8; 928],
    pub(super) data_head: AtomicU64,
    pub(super) data_tail: AtomicU64,
    data_offset: u64,
    data_size: u64,
    pub(super) aux_head: AtomicU64,
    pub(super) aux_tail: AtomicU64,
    pub(super) aux_offset: AtomicU64,
    pub(super) aux_size: AtomicU64,
}

/// The conversion of the CPU's cycle counter to perf's time, as the kernel publishes it (`PERF_RECORD_TIME_CONV`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimeConversion {
    /// Right shift after the multiplication.
    pub shift: u16,
    /// Multiplier.
    pub mult: u32,
    /// Time at cycle 0, ns.
    pub zero: u64,
    /// Cycle count to which `mask` is relative.
    pub cycles: u64,
    /// Valid bits of the cycle counter.
    pub mask: u64,
    /// The kernel publishes `zero`: cycles can be turned into perf time.
    pub user_time_zero: bool,
    /// `cycles` and `mask` hold.
    pub user_time_short: bool,
}

impl ControlPage {
    const CAP_USER_TIME_ZERO: u64 = 1 << 4;
    const CAP_USER_TIME_SHORT: u64 = 1 << 5;

    /// Copies the conversion out while the kernel's sequence lock shows it whole. `None` when the kernel keeps
    /// changing it, or offers none.
    ///
    /// # Safety
    /// `page` points at a mapped control page.
    pub(super) unsafe fn time_conversion(page: NonNull<ControlPage>) -> Option<TimeConversion> {
        const ATTEMPTS: usize = 1000;
        let page = page.as_ptr();
        for _ in 0..ATTEMPTS {
            // SAFETY: the caller vouches for the page; the lock word is only accessed atomically.
            let lock = unsafe { &(*page).lock };
            let before = lock.load(Ordering::Acquire);
            // SAFETY: as above; the copy is volatile because the kernel may write meanwhile, and dropped if so.
            let conversion = unsafe { Self::copy_conversion(page) };
            fence(Ordering::Acquire);
            if before & 1 == 0 && lock.load(Ordering::Relaxed) == before {
                return conversion.user_time_zero.then_some(conversion);
            }
        }
        None
    }

    /// # Safety
    /// `page` points at a mapped control page.
    unsafe fn copy_conversion(page: *const ControlPage) -> TimeConversion {
        macro_rules! field {
            ($name:ident) => {
                // SAFETY: the caller vouches for the page; every bit pattern is a valid integer.
                unsafe { addr_of!((*page).$name).read_volatile() }
            };
        }
        let capabilities = field!(capabilities);
        TimeConversion {
            shift: field!(time_shift),
            mult: field!(time_mult),
            zero: field!(time_zero),
            cycles: field!(time_cycles),
            mask: field!(time_mask),
            user_time_zero: capabilities & Self::CAP_USER_TIME_ZERO != 0,
            user_time_short: capabilities & Self::CAP_USER_TIME_SHORT != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layout_is_the_kernels() {
        let offsets = [
            offset_of!(ControlPage, capabilities),
            offset_of!(ControlPage, time_shift),
            offset_of!(ControlPage, time_mult),
            offset_of!(ControlPage, time_zero),
            offset_of!(ControlPage, time_cycles),
            offset_of!(ControlPage, time_mask),
            offset_of!(ControlPage, data_head),
            offset_of!(ControlPage, data_tail),
            offset_of!(ControlPage, aux_head),
            offset_of!(ControlPage, aux_tail),
            offset_of!(ControlPage, aux_offset),
            offset_of!(ControlPage, aux_size),
        ];
        let clock = [40, 50, 52, 64, 80, 88];
        let positions = [1024, 1032, 1056, 1064, 1072, 1080];
        assert_eq!(offsets[..6], clock);
        assert_eq!(offsets[6..], positions);
    }
}
