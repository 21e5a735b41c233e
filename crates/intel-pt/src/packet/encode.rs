//! A packet to bytes: the inverse of decoding.

use super::{Ip, PSB, Packet};

/// Appends the bytes of `packet`.
///
/// Decoding them gives `packet` again, a block item inside a block of its size. What was decoded gives its own bytes
/// back, except where the trace used more of them than needed (a CYC with zeros on top, long TNT without a stop bit).
///
/// ```
/// use intel_pt::packet::{Packet, encode};
/// let mut trace = Vec::new();
/// encode(Packet::Mtc(0x94), &mut trace);
/// assert_eq!(trace, [0x59, 0x94]);
/// ```
pub fn encode(packet: Packet, out: &mut Vec<u8>) {
    match packet {
        Packet::Pad => out.push(0),
        Packet::Tnt(tnt) if tnt.is_long() => extended(0xa3, tnt.stopped(), 6, out),
        Packet::Tnt(tnt) => out.push((tnt.stopped() << 1) as u8),
        Packet::Tip(ip) => address(0x0d, ip, out),
        Packet::TipPge(ip) => address(0x11, ip, out),
        Packet::TipPgd(ip) => address(0x01, ip, out),
        Packet::Fup(ip) => address(0x1d, ip, out),
        Packet::Cyc(cycles) => cyc(cycles, out),
        Packet::Mtc(counter) => out.extend([0x59, counter]),
        Packet::Tsc(counter) => plain(0x19, counter, 7, out),
        Packet::Tma(tma) => extended(0x73, tma.bits(), 5, out),
        Packet::Cbr(ratio) => extended(0x03, ratio.into(), 2, out),
        Packet::ModeExec(mode) => out.extend([0x99, mode.bits()]),
        Packet::ModeTsx(mode) => out.extend([0x99, mode.bits()]),
        Packet::Pip(pip) => extended(0x43, pip.bits(), 6, out),
        Packet::Vmcs(base) => extended(0xc8, base, 5, out),
        Packet::Psb => out.extend(PSB),
        Packet::PsbEnd => out.extend([0x02, 0x23]),
        Packet::Ovf => out.extend([0x02, 0xf3]),
        Packet::TraceStop => out.extend([0x02, 0x83]),
        Packet::Mnt(payload) => headed(0xc3, 0x88, payload, out),
        Packet::PtWrite(write) if write.is_qword() => {
            extended(0x32 | flag(write.ip()), write.value(), 8, out)
        }
        Packet::PtWrite(write) => extended(0x12 | flag(write.ip()), write.value(), 4, out),
        Packet::ExStop(ip) => out.extend([0x02, 0x62 | flag(ip)]),
        Packet::Mwait(wait) => extended(0xc2, wait.bits(), 8, out),
        Packet::PowerEntry(entry) => extended(0x22, entry.bits().into(), 2, out),
        Packet::PowerExit(exit) => extended(0xa2, exit.bits(), 5, out),
        Packet::BlockBegin(block) => extended(0x63, block.bits().into(), 1, out),
        Packet::BlockItem(item) => {
            plain(item.id() << 3 | 4, item.value(), item.size().bytes(), out)
        }
        Packet::BlockEnd(ip) => out.extend([0x02, 0x33 | flag(ip)]),
        Packet::ControlFlowEvent(event) => extended(0x13, event.bits().into(), 2, out),
        Packet::EventData(data) => headed(0x53, data.header(), data.value(), out),
        Packet::Trigger(trigger) => {
            out.extend([0xd9, trigger.header(), trigger.fired()]);
            out.extend(
                trigger
                    .instructions()
                    .into_iter()
                    .flat_map(u16::to_le_bytes),
            );
        }
    }
}

/// The bit that says that a FUP follows.
fn flag(ip: bool) -> u8 {
    u8::from(ip) << 7
}

/// A byte and the low `bytes` bytes of `value`.
fn plain(first: u8, value: u64, bytes: usize, out: &mut Vec<u8>) {
    out.push(first);
    out.extend(&value.to_le_bytes()[..bytes]);
}

/// 02, a byte, and the low `bytes` bytes of `value`.
fn extended(second: u8, value: u64, bytes: usize, out: &mut Vec<u8>) {
    out.push(0x02);
    plain(second, value, bytes, out);
}

/// 02, two bytes and a value of eight.
fn headed(second: u8, third: u8, value: u64, out: &mut Vec<u8>) {
    out.extend([0x02, second]);
    plain(third, value, 8, out);
}

fn address(opcode: u8, ip: Ip, out: &mut Vec<u8>) {
    plain(
        opcode | (ip.compression() as u8) << 5,
        ip.payload(),
        ip.compression().bytes(),
        out,
    );
}

fn cyc(cycles: u64, out: &mut Vec<u8>) {
    let mut rest = cycles >> 5;
    out.push((cycles as u8 & 0x1f) << 3 | u8::from(rest != 0) << 2 | 3);
    while rest != 0 {
        out.push((rest as u8 & 0x7f) << 1 | u8::from(rest >> 7 != 0));
        rest >>= 7;
    }
}
