//! The first page of a ring: positions and clock conversion, as the kernel publishes them.

use super::region::Region;
use std::mem::size_of;
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// The used part of `struct perf_event_mmap_page`. The kernel writes it while it is read, so that every word is an atomic one.
#[repr(C)]
pub(super) struct ControlPage {
    version: u32,
    compat_version: u32,
    lock: AtomicU32,
    index: AtomicU32,
    offset: AtomicI64,
    time_enabled: AtomicU64,
    time_running: AtomicU64,
    capabilities: AtomicU64,
    pmc_width: AtomicU16,
    time_shift: AtomicU16,
    time_mult: AtomicU32,
    time_offset: AtomicU64,
    time_zero: AtomicU64,
    size: u32,
    reserved_1: u32,
    time_cycles: AtomicU64,
    time_mask: AtomicU64,
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

/// The fields that the kernel changes together, under its sequence lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct PageFields {
    pub(super) index: u32,
    pub(super) offset: i64,
    pub(super) enabled: u64,
    pub(super) running: u64,
    pub(super) capabilities: u64,
    pub(super) width: u16,
    pub(super) shift: u16,
    pub(super) mult: u32,
    pub(super) time_offset: u64,
    pub(super) zero: u64,
    pub(super) cycles: u64,
    pub(super) mask: u64,
}

/// Bits of [`PageFields::capabilities`].
pub(super) mod capability {
    /// The counter may be read by this process.
    pub(in crate::ring) const COUNTER: u64 = 1 << 2;
    /// The cycle counter gives the time since the last change.
    pub(in crate::ring) const TIME: u64 = 1 << 3;
    /// It gives perf's time.
    pub(in crate::ring) const TIME_ZERO: u64 = 1 << 4;
    /// It has fewer bits than a word.
    pub(in crate::ring) const TIME_SHORT: u64 = 1 << 5;
}

impl ControlPage {
    /// The page at the beginning of a ring's memory.
    pub(super) fn of(region: &Region) -> &ControlPage {
        debug_assert!(region.length() >= size_of::<ControlPage>());
        // SAFETY: a ring's memory begins with a page, which is aligned, larger than the struct and mapped as long as the
        // region lives. Words that the kernel changes are atomic; it writes the others before the page is mapped.
        unsafe { region.start().cast::<ControlPage>().as_ref() }
    }

    /// Copies the fields out while the kernel's sequence lock shows them whole, and calls `beside` at the same time: what it
    /// returns belongs to the fields. `None` when the kernel changes them each time.
    pub(super) fn read<T>(
        &self,
        mut beside: impl FnMut(&PageFields) -> T,
    ) -> Option<(PageFields, T)> {
        const ATTEMPTS: usize = 1000;
        for _ in 0..ATTEMPTS {
            // Acquire: the fields are read after this.
            let before = self.lock.load(Ordering::Acquire);
            let fields = self.fields();
            let found = beside(&fields);
            // The fields are read before the lock is looked at again.
            fence(Ordering::Acquire);
            if before & 1 == 0 && self.lock.load(Ordering::Relaxed) == before {
                return Some((fields, found));
            }
        }
        None
    }

    fn fields(&self) -> PageFields {
        PageFields {
            index: self.index.load(Ordering::Relaxed),
            offset: self.offset.load(Ordering::Relaxed),
            enabled: self.time_enabled.load(Ordering::Relaxed),
            running: self.time_running.load(Ordering::Relaxed),
            capabilities: self.capabilities.load(Ordering::Relaxed),
            width: self.pmc_width.load(Ordering::Relaxed),
            shift: self.time_shift.load(Ordering::Relaxed),
            mult: self.time_mult.load(Ordering::Relaxed),
            time_offset: self.time_offset.load(Ordering::Relaxed),
            zero: self.time_zero.load(Ordering::Relaxed),
            cycles: self.time_cycles.load(Ordering::Relaxed),
            mask: self.time_mask.load(Ordering::Relaxed),
        }
    }

    /// Changes the fields as the kernel does: the fake kernel's side, which alone writes its pages.
    pub(super) fn publish(&self, fields: &PageFields) {
        let before = self.lock.load(Ordering::Relaxed);
        self.lock.store(before.wrapping_add(1), Ordering::Relaxed);
        // No field is seen before the lock is odd.
        fence(Ordering::Release);
        self.index.store(fields.index, Ordering::Relaxed);
        self.offset.store(fields.offset, Ordering::Relaxed);
        self.time_enabled.store(fields.enabled, Ordering::Relaxed);
        self.time_running.store(fields.running, Ordering::Relaxed);
        self.capabilities
            .store(fields.capabilities, Ordering::Relaxed);
        self.pmc_width.store(fields.width, Ordering::Relaxed);
        self.time_shift.store(fields.shift, Ordering::Relaxed);
        self.time_mult.store(fields.mult, Ordering::Relaxed);
        self.time_offset
            .store(fields.time_offset, Ordering::Relaxed);
        self.time_zero.store(fields.zero, Ordering::Relaxed);
        self.time_cycles.store(fields.cycles, Ordering::Relaxed);
        self.time_mask.store(fields.mask, Ordering::Relaxed);
        // Release: the fields are seen before the lock is even again.
        self.lock.store(before.wrapping_add(2), Ordering::Release);
    }

    /// The conversion of cycles to perf's time. `None` when the kernel keeps changing it, or offers none.
    pub(super) fn time_conversion(&self) -> Option<TimeConversion> {
        let (fields, ()) = self.read(|_| ())?;
        let has = |bit| fields.capabilities & bit != 0;
        let conversion = TimeConversion {
            shift: fields.shift,
            mult: fields.mult,
            zero: fields.zero,
            cycles: fields.cycles,
            mask: fields.mask,
            user_time_zero: has(capability::TIME_ZERO),
            user_time_short: has(capability::TIME_SHORT),
        };
        conversion.user_time_zero.then_some(conversion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layout_is_the_kernels() {
        let offsets = [
            offset_of!(ControlPage, index),
            offset_of!(ControlPage, offset),
            offset_of!(ControlPage, time_enabled),
            offset_of!(ControlPage, capabilities),
            offset_of!(ControlPage, pmc_width),
            offset_of!(ControlPage, time_shift),
            offset_of!(ControlPage, time_mult),
            offset_of!(ControlPage, time_offset),
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
        let counter_and_clock = [12, 16, 24, 40, 48, 50, 52, 56, 64, 80, 88];
        let positions = [1024, 1032, 1056, 1064, 1072, 1080];
        assert_eq!(offsets[..11], counter_and_clock);
        assert_eq!(offsets[11..], positions);
    }
}
