//! The length of a cycle in ticks: measured from here to the next MTC packet.

use std::num::NonZeroU32;

use super::crystal::{Crystal, Rate};
use crate::note::Measured;
use crate::packet::{Packet, PacketReader};

/// A measured rate that is above the nominal one by more than this factor is not believed.
const TOO_FAST: f64 = 1.25;

/// The start of a measurement: an MTC packet.
pub(super) struct Start {
    pub(super) crystal: Option<Crystal>,
    pub(super) time: u64,
    pub(super) rate: Rate,
    /// Ticks per cycle by the last CBR packet.
    pub(super) nominal: Option<f64>,
    pub(super) max_non_turbo_ratio: Option<NonZeroU32>,
}

impl Start {
    /// Ticks per cycle up to the next MTC packet that comes directly behind a CYC packet.
    ///
    /// `None` when tracing stops, the frequency changes or time does not add up before that.
    pub(super) fn measure(mut self, mut ahead: PacketReader<'_>) -> Option<Measured> {
        let mut cycles = 0u64;
        let mut frequency = None;
        let mut last = self.time;
        let mut behind_cyc = false;
        loop {
            let at = ahead.offset() as u64;
            let packet = ahead.next()?.ok()?;
            match packet {
                Packet::Cyc(more) => cycles = cycles.wrapping_add(more),
                Packet::Mtc(mtc) => {
                    if let Some(crystal) = &mut self.crystal {
                        let time = crystal.advance(self.rate, mtc);
                        if time < last {
                            return None;
                        }
                        if behind_cyc {
                            return self.measured(time, cycles, frequency, at);
                        }
                        last = time;
                    }
                }
                Packet::Cbr(payload) => {
                    let ratio = payload as u8;
                    if frequency.is_some_and(|before| before != ratio) {
                        return None;
                    }
                    frequency = Some(ratio);
                }
                packet if ends(packet) => return None,
                _ => {}
            }
            behind_cyc = matches!(packet, Packet::Cyc(_));
        }
    }

    fn measured(
        &self,
        time: u64,
        cycles: u64,
        frequency: Option<u8>,
        end: u64,
    ) -> Option<Measured> {
        if cycles == 0 {
            return None;
        }
        let ticks = time.wrapping_sub(self.time) as f64 / cycles as f64;
        let nominal = match frequency {
            Some(ratio) => Some(nominal(self.max_non_turbo_ratio, ratio)),
            None => self.nominal,
        };
        let believed =
            nominal.is_none_or(|nominal| ticks <= nominal || ticks / nominal <= TOO_FAST);
        Some(Measured {
            ticks,
            nominal,
            believed,
            end,
        })
    }
}

/// Ticks per cycle at a core to bus ratio; 0 if the ratio of the time-stamp counter is unknown.
pub(super) fn nominal(max_non_turbo_ratio: Option<NonZeroU32>, ratio: u8) -> f64 {
    f64::from(max_non_turbo_ratio.map_or(0, NonZeroU32::get)) / f64::from(ratio)
}

/// True if timing may stand still from this packet on.
fn ends(packet: Packet) -> bool {
    matches!(
        packet,
        Packet::Tsc(_)
            | Packet::Tma(_)
            | Packet::TipPgd(_)
            | Packet::TraceStop
            | Packet::ExStop(_)
            | Packet::Mwait(_)
            | Packet::PowerEntry(_)
            | Packet::PowerExit(_)
            | Packet::Ovf
    )
}
