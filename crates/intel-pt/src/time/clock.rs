//! The time at a place in the trace, kept from its TSC, TMA, MTC, CYC and CBR packets.

use std::num::{NonZeroU8, NonZeroU32};

use super::crystal::{Crystal, Rate};
use super::cycles;
use super::guess::Pace;
use crate::config::Config;
use crate::item::Tsc;
use crate::note::Measured;
use crate::packet::{PacketReader, Tma};

/// A TSC packet may come late and seem to go back by less than this; then time stands still instead.
const SLIP: u64 = 0x10000;

/// The bits of a TSC packet.
const TSC_BITS: u32 = 56;

/// Time, and cycles.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clock {
    rate: Rate,
    max_non_turbo_ratio: Option<NonZeroU32>,
    /// Any value near the time, for the bits that a TSC packet lacks; used up by the first one.
    reference: Option<u64>,
    /// There was one: its upper bits hold for the whole chunk.
    has_reference: bool,
    time: Option<u64>,
    /// The value of the last TSC packet.
    tsc: u64,
    crystal: Option<Crystal>,
    /// The time from which cycles are counted, and the cycles since.
    cycle_base: u64,
    cycles: u64,
    /// Ticks per cycle: measured, and by the last CBR packet.
    measured: Option<f64>,
    nominal: Option<f64>,
    cbr: Option<NonZeroU8>,
    has_cycles: bool,
    total: TotalCycles,
    /// The last packet was a CYC packet.
    behind_cyc: bool,
    /// Instructions that had run when the time last changed; `None` if it did not since decoding began or was resumed.
    changed_at: Option<u64>,
}

/// Cycles that were spent while code was traced: from CYC packets or, without them, from time and frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TotalCycles {
    count: u64,
    /// The count and time from which the next estimate starts.
    base: u64,
    since: u64,
    /// Something was added since it was last asked.
    fresh: bool,
}

impl Clock {
    pub(crate) fn new(config: &Config) -> Clock {
        Clock {
            rate: Rate::new(config),
            max_non_turbo_ratio: config.max_non_turbo_ratio,
            reference: None,
            has_reference: false,
            time: None,
            tsc: 0,
            crystal: None,
            cycle_base: 0,
            cycles: 0,
            measured: None,
            nominal: None,
            cbr: None,
            has_cycles: false,
            total: TotalCycles::default(),
            behind_cyc: false,
            changed_at: None,
        }
    }

    /// The time now.
    #[inline]
    pub(crate) fn time(&self) -> Option<Tsc> {
        self.time.map(Tsc)
    }

    /// The value of the last TSC packet.
    pub(crate) fn tsc(&self) -> Option<Tsc> {
        Some(Tsc(self.tsc)).filter(|tsc| tsc.0 != 0)
    }

    /// The core to bus ratio; `None` before the first CBR packet.
    pub(crate) fn cbr(&self) -> Option<NonZeroU8> {
        self.cbr
    }

    /// Cycles so far.
    #[inline]
    pub(crate) fn total_cycles(&self) -> u64 {
        self.total.count
    }

    /// True if there are CYC packets.
    #[inline]
    pub(crate) fn has_cycles(&self) -> bool {
        self.has_cycles
    }

    /// True if cycles were added since this was last asked.
    #[inline]
    pub(crate) fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.total.fresh)
    }

    /// Instructions since the time last changed, of so many that ran.
    #[inline]
    pub(crate) fn since(&self, instructions: u64) -> u64 {
        instructions - self.changed_at.unwrap_or_default().min(instructions)
    }

    /// True if the time changed since decoding began or was resumed.
    #[inline]
    pub(crate) fn has_changed(&self) -> bool {
        self.changed_at.is_some()
    }

    /// The time holds exactly where so many instructions had run.
    pub(crate) fn set_changed_at(&mut self, instructions: u64) {
        self.changed_at = Some(instructions);
    }

    /// This clock for a decoder that counts instructions from here on.
    pub(crate) fn begin_count(&self) -> Clock {
        Clock {
            changed_at: None,
            ..self.clone()
        }
    }

    /// Begins anew at a chunk that does not follow the last one.
    pub(crate) fn restart(&mut self, reference: Option<Tsc>) {
        self.reference = reference.map(|tsc| tsc.0);
        self.has_reference = reference.is_some();
        self.time = None;
        self.crystal = None;
    }

    /// The crystal clock is not to be trusted before the next TMA packet.
    pub(crate) fn untie(&mut self) {
        self.crystal = None;
    }

    /// Another packet than a timing packet was read.
    #[inline]
    pub(crate) fn other_packet(&mut self) {
        self.behind_cyc = false;
    }

    /// A TSC packet.
    pub(crate) fn on_tsc(&mut self, payload: u64, instructions: u64) {
        if let Some(reference) = self.reference.take() {
            let tsc = near(payload, reference);
            self.set_tsc(tsc, tsc, instructions);
        } else if let Some(now) = self.time {
            let upper = now & !(u64::MAX >> (64 - TSC_BITS));
            let tsc = payload | upper;
            if tsc >= now {
                self.set_tsc(tsc, tsc, instructions);
            } else if now - tsc < SLIP {
                self.set_tsc(tsc, now, instructions);
            } else if self.has_reference && now - tsc < 1 << (TSC_BITS - 1) {
                // The time before was damaged, or this one is: time stands still till the trace has caught up.
                self.set_tsc(tsc, now, instructions);
            } else {
                let tsc = tsc.wrapping_add(1 << TSC_BITS);
                self.set_tsc(tsc, tsc, instructions);
            }
        } else {
            self.set_tsc(payload, payload, instructions);
        }
        self.measure_from_here(None);
    }

    fn set_tsc(&mut self, tsc: u64, time: u64, instructions: u64) {
        self.tsc = tsc;
        self.time = Some(time);
        self.changed_at = Some(instructions);
    }

    /// A TMA packet. Outside of PSB+ the trace was interrupted before it.
    pub(crate) fn on_tma(&mut self, tma: Tma, tracing: bool, in_psb: bool) {
        let tied = Crystal::tied(self.rate, self.tsc, tma);
        if tied.is_some() {
            if tracing && !in_psb {
                self.rebase_estimate()
            } else {
                self.estimate_cycles(tracing)
            }
            self.crystal = tied;
        }
        self.behind_cyc = false;
    }

    /// An MTC packet; `ahead` reads on behind it. Without a TMA packet it says nothing.
    pub(crate) fn on_mtc(
        &mut self,
        mtc: u8,
        tracing: bool,
        instructions: u64,
        ahead: PacketReader<'_>,
    ) {
        let Some(crystal) = &mut self.crystal else {
            self.behind_cyc = false;
            return;
        };
        let time = crystal.advance(self.rate, mtc);
        self.time = Some(self.time.unwrap_or_default().max(time));
        self.estimate_cycles(tracing);
        self.changed_at = Some(instructions);
        self.measure_from_here(Some(ahead));
    }

    /// Counts cycles from here on, if the packet came directly behind a CYC packet.
    fn measure_from_here(&mut self, ahead: Option<PacketReader<'_>>) {
        if !std::mem::take(&mut self.behind_cyc) {
            return;
        }
        self.cycle_base = self.time.unwrap_or_default();
        self.cycles = 0;
        let measured = ahead.and_then(|ahead| self.measure(ahead));
        self.measured = measured
            .filter(|measured| measured.believed)
            .map(|measured| measured.ticks);
    }

    /// The length of a cycle from the last packet on, if that was an MTC packet directly behind a CYC packet.
    pub(crate) fn measure(&self, ahead: PacketReader<'_>) -> Option<Measured> {
        let start = cycles::Start {
            crystal: self.crystal,
            time: self.cycle_base,
            rate: self.rate,
            nominal: self.nominal,
            max_non_turbo_ratio: self.max_non_turbo_ratio,
        };
        start.measure(ahead)
    }

    /// True if the last packet was a CYC packet.
    pub(crate) fn is_behind_cyc(&self) -> bool {
        self.behind_cyc
    }

    /// True if MTC packets set the time.
    pub(crate) fn follows_crystal(&self) -> bool {
        self.crystal.is_some()
    }

    /// True if CYC packets set the time.
    pub(crate) fn follows_cycles(&self) -> bool {
        self.cycle_base != 0 && self.measured.or(self.nominal).is_some()
    }

    /// The time to which the last packet tied the crystal clock, with the ticks that had passed by then.
    pub(crate) fn tie(&self, tma: Tma) -> Option<(Tsc, u8, u64)> {
        let (base, mtc) = self.crystal?.tie();
        Some((Tsc(base), mtc, self.rate.rest(u64::from(tma.ctc()))))
    }

    /// A CYC packet.
    #[inline]
    pub(crate) fn on_cyc(&mut self, count: u64, tracing: bool, instructions: u64) {
        self.has_cycles = true;
        self.behind_cyc = true;
        self.cycles = self.cycles.wrapping_add(count);
        if tracing {
            self.total.count = self.total.count.wrapping_add(count);
        }
        self.total.fresh = true;
        if self.cycle_base == 0 {
            return;
        }
        let Some(ticks) = self.measured.or(self.nominal) else {
            return;
        };
        let time = (self.cycle_base as f64 + self.cycles as f64 * ticks) as u64;
        self.time = Some(self.time.unwrap_or_default().max(time));
        self.changed_at = Some(instructions);
    }

    /// A CBR packet.
    pub(crate) fn on_cbr(&mut self, ratio: u8, tracing: bool) {
        self.behind_cyc = false;
        let known = NonZeroU8::new(ratio);
        if self.cbr == known {
            return;
        }
        self.cbr = known;
        self.nominal = Some(cycles::nominal(self.max_non_turbo_ratio, ratio));
        self.cycle_base = self.time.unwrap_or_default();
        self.cycles = 0;
        if tracing {
            self.rebase_estimate();
        }
    }

    /// Tracing begins: cycles are estimated from here on.
    pub(crate) fn rebase_estimate(&mut self) {
        if !self.has_cycles {
            self.total.since = self.time.unwrap_or_default();
            self.total.base = self.total.count;
        }
    }

    fn estimate_cycles(&mut self, tracing: bool) {
        if self.has_cycles {
            return;
        }
        self.total.fresh = true;
        let now = self.time.unwrap_or_default();
        let Some(max_non_turbo_ratio) = self.max_non_turbo_ratio else {
            return;
        };
        if !tracing || now <= self.total.since {
            return;
        }
        let per_tick =
            f64::from(self.cbr.map_or(0, NonZeroU8::get)) / f64::from(max_non_turbo_ratio.get());
        let count = ((now - self.total.since) as f64 * per_tick + self.total.base as f64) as u64;
        self.total.count = self.total.count.max(count);
    }

    /// The speed of the processor.
    pub(crate) fn pace(&self) -> Pace {
        Pace {
            ratio: self.cbr,
            max_non_turbo_ratio: self.max_non_turbo_ratio,
        }
    }
}

/// The value that is nearest to `reference` and ends with the bits of `payload`.
fn near(payload: u64, reference: u64) -> u64 {
    let value = payload | reference & !(u64::MAX >> (64 - TSC_BITS));
    let half = 1 << (TSC_BITS - 1);
    match value < reference {
        true if reference - value > half => value.wrapping_add(1 << TSC_BITS),
        false if value - reference > half => value.wrapping_sub(1 << TSC_BITS),
        _ => value,
    }
}
