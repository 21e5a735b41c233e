//! PTWRITE where the processor has none: the value is in the outcomes of the 64 branches that follow.

use super::Decoder;
use crate::event::Event;
use crate::item::ErrorKind;
use crate::packet::{Packet, Tnt};

/// Outcomes of a value, the highest bit first.
const OUTCOMES: u8 = 64;
/// Packets ahead that may hold them, those of timing among them.
const LOOKED_AT: usize = 4096;

impl Decoder<'_> {
    /// Tells the value, which the outcomes that are left and those of the packets ahead are. The walk through the branches
    /// themselves goes on afterwards.
    pub(super) fn tell_emulated_write(&mut self) {
        match self.emulated_value() {
            Some(value) => self.tell_event(Event::PtWrite { value, ip: None }),
            None => self.tell_error(ErrorKind::BrokenPtWrite),
        }
    }

    fn emulated_value(&self) -> Option<u64> {
        let mut value = Value::default();
        value.take(self.resumed?);
        for packet in self.input.ahead().take(LOOKED_AT) {
            if value.count == OUTCOMES {
                break;
            }
            match packet.ok()? {
                Packet::Tnt(tnt) => value.take(tnt),
                Packet::Tsc(_)
                | Packet::Mtc(_)
                | Packet::Cyc(_)
                | Packet::Cbr(_)
                | Packet::Tma(_)
                | Packet::Pad => {}
                _ => return None,
            }
        }
        (value.count == OUTCOMES).then_some(value.bits)
    }
}

#[derive(Default)]
struct Value {
    bits: u64,
    count: u8,
}

impl Value {
    fn take(&mut self, tnt: Tnt) {
        let outcomes = tnt.outcomes().take(usize::from(OUTCOMES - self.count));
        for taken in outcomes {
            self.bits = self.bits << 1 | u64::from(taken);
            self.count += 1;
        }
    }
}
