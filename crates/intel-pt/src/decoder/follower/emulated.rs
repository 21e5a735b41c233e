//! PTWRITE where the processor has none: the value is in the outcomes of the 64 branches that follow.

use crate::packet::{Packet, PacketReader, Tnt};

/// Outcomes of a value, the highest bit first.
const OUTCOMES: u8 = 64;
/// Packets ahead that may hold them, those of timing among them.
const MAX_PACKETS: usize = 4096;

/// The value of which `rest` are the first outcomes and the packets `ahead` have the others; `None` if it is broken off.
pub(super) fn emulated_value(rest: Tnt, ahead: PacketReader<'_>) -> Option<u64> {
    let mut value = Value::default();
    value.take(rest);
    for packet in ahead.take(MAX_PACKETS) {
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
