//! Reading a counter without a call of the kernel: the control page of an event says which hardware counter counts it, and
//! what to add.
//!
//! ```text
//!  count   = offset + sign-extended counter      while the event has a counter
//!  enabled = time_enabled + time since the change  (cycles, scaled by mult and shift, from time_offset on)
//! ```
//!
//! The kernel changes these fields under a sequence lock: a read that meets a change is done again.

use super::data::RingError;
use super::page::{ControlPage, PageFields, capability};
use super::region::{Access, Backing, Region};
use crate::{EventFd, process};
use std::marker::PhantomData;
use std::os::fd::AsFd;
use std::sync::Arc;

/// The registers of a CPU that user-space reads need: those of the hardware, or those that a test scripts.
pub trait CounterRegisters {
    /// The hardware counter with this number, as far as it is wide.
    fn counter(&self, number: u32) -> u64;
    /// The cycle counter that the page's clock is about.
    fn cycles(&self) -> u64;
}

/// A count that was read without a call of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserCount {
    /// The count.
    pub value: u64,
    /// Time enabled and time counting, ns; `None` where the cycle counter is no clock.
    pub times: Option<(u64, u64)>,
}

/// The control page of an event that counts the thread that reads it. It stays in that thread: on another CPU the registers
/// are those of other events.
#[derive(Debug)]
pub struct CounterPage {
    region: Arc<Region>,
    _thread: PhantomData<*const ()>,
}

impl CounterPage {
    /// Maps the page of an event that has no ring.
    ///
    /// # Errors
    /// The kernel's answer: `EINVAL` when the event has a ring of records; then take [`DataRing::counter_page`].
    ///
    /// [`DataRing::counter_page`]: crate::DataRing::counter_page
    pub(crate) fn map(event: &EventFd) -> Result<CounterPage, RingError> {
        CounterPage::backed_by(Backing::Event(event.as_fd(), 0))
    }

    /// A page that no kernel writes, for the fake kernel: no counter can be read by it.
    pub(crate) fn anonymous() -> Result<CounterPage, RingError> {
        CounterPage::backed_by(Backing::Memory)
    }

    fn backed_by(backing: Backing<'_>) -> Result<CounterPage, RingError> {
        let region = Region::map(backing, process::page_size(), Access::ReadWrite)
            .map_err(|errno| RingError::of_mapping(0, errno))?;
        Ok(CounterPage::of(Arc::new(region)))
    }

    /// The page that a ring begins with.
    pub(super) fn of(region: Arc<Region>) -> CounterPage {
        CounterPage {
            region,
            _thread: PhantomData,
        }
    }

    /// The memory of the page.
    pub(crate) fn writer(&self) -> CounterPageWriter {
        CounterPageWriter(Arc::clone(&self.region))
    }

    /// The count as `registers` and the page give it; `None` where only the kernel knows: the event has no hardware counter
    /// now, the kernel does not allow to read it, or changes the page each time.
    pub fn read(&self, registers: &impl CounterRegisters) -> Option<UserCount> {
        let page = ControlPage::of(&self.region);
        let (fields, (counter, cycles)) = page.read(|fields| {
            let counter = readable_counter(fields).map(|number| registers.counter(number));
            let cycles = has(fields, capability::TIME).then(|| registers.cycles());
            (counter, cycles)
        })?;
        let delta = cycles.and_then(|cycles| elapsed(&fields, cycles));
        Some(UserCount {
            value: count(&fields, counter?)?,
            times: delta.map(|delta| {
                (
                    fields.enabled.wrapping_add(delta),
                    fields.running.wrapping_add(delta),
                )
            }),
        })
    }
}

fn has(fields: &PageFields, bit: u64) -> bool {
    fields.capabilities & bit != 0
}

/// The number of the hardware counter; the page counts from 1.
fn readable_counter(fields: &PageFields) -> Option<u32> {
    let allowed = has(fields, capability::COUNTER);
    fields.index.checked_sub(1).filter(|_| allowed)
}

/// `offset` plus the counter, whose highest bit is its sign. `None` for a width that no counter has.
fn count(fields: &PageFields, counter: u64) -> Option<u64> {
    let unused = 64u32.checked_sub(u32::from(fields.width))?;
    let extended = (counter.checked_shl(unused)? as i64) >> unused;
    Some(fields.offset.wrapping_add(extended) as u64)
}

/// Nanoseconds since the page was written. `None` for a shift that no clock has.
fn elapsed(fields: &PageFields, cycles: u64) -> Option<u64> {
    let cycles = if has(fields, capability::TIME_SHORT) {
        let since = cycles.wrapping_sub(fields.cycles) & fields.mask;
        fields.cycles.wrapping_add(since)
    } else {
        cycles
    };
    let (shift, mult) = (u32::from(fields.shift), u64::from(fields.mult));
    let whole = cycles.checked_shr(shift)?;
    let rest = cycles & ((1u64 << shift) - 1);
    let scaled = whole
        .wrapping_mul(mult)
        .wrapping_add(rest.wrapping_mul(mult) >> shift);
    Some(fields.time_offset.wrapping_add(scaled))
}

/// The state of a counter's page, as a fake kernel publishes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FakePage {
    /// The hardware counter; `None` while the event has none.
    pub counter: Option<u32>,
    /// Added to the counter.
    pub offset: i64,
    /// Bits of the counter.
    pub width: u16,
    /// The process may read the counter.
    pub readable: bool,
    /// Time enabled at the last change, ns.
    pub enabled: u64,
    /// Time counting at the last change, ns.
    pub running: u64,
    /// The clock; `None` where the cycle counter is none.
    pub clock: Option<FakePageClock>,
}

/// The clock of a counter's page: `offset + cycles * mult / 2^shift` is the time since the last change, in ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FakePageClock {
    /// Multiplier.
    pub mult: u32,
    /// Right shift after the multiplication.
    pub shift: u16,
    /// Added, modulo 2^64.
    pub offset: u64,
    /// Where the cycle counter has fewer bits than 64: cycles at the last change, and the mask of valid bits.
    pub short: Option<(u64, u64)>,
}

/// The kernel's side of a page.
#[derive(Clone, Debug)]
pub(crate) struct CounterPageWriter(Arc<Region>);

impl CounterPageWriter {
    /// Changes the page as the kernel does. Only for pages of the fake kernel, which are writable.
    pub(crate) fn publish(&self, state: &FakePage) {
        ControlPage::of(&self.0).publish(&state.fields());
    }
}

impl FakePage {
    fn fields(&self) -> PageFields {
        let when = |on: bool, bit| if on { bit } else { 0 };
        let clock = self.clock.unwrap_or(FakePageClock {
            mult: 0,
            shift: 0,
            offset: 0,
            short: None,
        });
        let (cycles, mask) = clock.short.unwrap_or((0, 0));
        PageFields {
            index: self.counter.map_or(0, |number| number.saturating_add(1)),
            offset: self.offset,
            enabled: self.enabled,
            running: self.running,
            capabilities: when(self.readable, capability::COUNTER)
                | when(self.clock.is_some(), capability::TIME)
                | when(clock.short.is_some(), capability::TIME_SHORT),
            width: self.width,
            shift: clock.shift,
            mult: clock.mult,
            time_offset: clock.offset,
            zero: 0,
            cycles,
            mask,
        }
    }
}

#[cfg(test)]
mod tests;
