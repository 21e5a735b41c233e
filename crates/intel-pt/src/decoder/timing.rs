//! Packets that tell the time.

use super::{Decoder, Phase};
use crate::packet::Packet;

impl Decoder<'_> {
    /// Applies a timing packet; says whether it was one.
    #[inline]
    pub(super) fn on_timing(&mut self, packet: Packet) -> bool {
        let at = self.instructions;
        match packet {
            Packet::Cyc(count) if self.config.errata.overflow_in_cyc && self.is_cut_cyc(count) => {
                self.input.next();
                self.on_overflow();
            }
            Packet::Cyc(count) => self.clock.on_cyc(count, self.enabled, at),
            Packet::Mtc(mtc) => {
                let ahead = self.input.ahead();
                self.clock.on_mtc(mtc, self.enabled, at, ahead);
            }
            Packet::Tsc(tsc) => self.clock.on_tsc(tsc, at),
            Packet::Tma(tma) => self.clock.on_tma(tma, self.enabled, self.psb.is_some()),
            Packet::Cbr(payload) => {
                self.clock.on_cbr(payload as u8, self.enabled);
                self.run.cbr_payload = payload;
                if self.phase == Phase::Follow && self.psb.is_none() {
                    self.tell_cbr();
                }
            }
            _ => return false,
        }
        true
    }

    /// Whether the bytes of a CYC packet and of the one behind it are an OVF packet behind a byte of CYC.
    fn is_cut_cyc(&self, count: u64) -> bool {
        const SECOND_BYTE_2: std::ops::RangeInclusive<u64> = 0x20..=0x3f;
        const BYTE_F3: Packet = Packet::Cyc(0x1e);
        SECOND_BYTE_2.contains(&count) && matches!(self.input.ahead().next(), Some(Ok(BYTE_F3)))
    }
}
