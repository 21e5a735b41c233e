//! Bytes to one packet.

use super::{
    Block, BlockItem, ControlFlowEvent, EventData, Ip, IpCompression, ItemSize, ModeExec, ModeTsx,
    Mwait, PSB, Packet, Pip, PowerEntry, PowerExit, PtWrite, Tma, Tnt, Trigger,
};

/// The longest packet.
pub(super) const LONGEST: usize = PSB.len();

/// As many bytes as the longest packet has; behind the end of the trace they are zero.
pub(super) type Window = [u8; LONGEST];

/// A packet and its length, or `None` where none begins.
pub(super) type Decoded = Option<(Packet, usize)>;

/// Decodes TNT, TIP and FUP packets outside blocks, which most of a trace consists of, where they are inlined.
#[inline(always)]
pub(super) fn frequent(window: &Window) -> Decoded {
    let first = window[0];
    if first & 1 == 0 {
        return if first > 2 {
            Some((Packet::Tnt(Tnt::from_byte(first)), 1))
        } else {
            None
        };
    }
    if !matches!(first & 0x1f, 0x0d | 0x1d) {
        return None;
    }
    let compression = IpCompression::from_bits(first >> 5)?;
    let ip = Ip::new(compression, word(window, 1));
    let packet = if first & 0x1f == 0x0d {
        Packet::Tip(ip)
    } else {
        Packet::Fup(ip)
    };
    Some((packet, 1 + compression.bytes()))
}

/// Decodes the packet at the beginning of `window`. `items` is the size of block items if a block is open.
#[inline]
pub(super) fn decode(window: &Window, items: Option<ItemSize>) -> Decoded {
    let first = window[0];
    if first & 1 == 0 {
        return match first {
            _ if items.is_some() && first & 7 == 4 => item(window, items),
            0x00 => Some((Packet::Pad, 1)),
            0x02 => extended(window),
            _ => Some((Packet::Tnt(Tnt::from_byte(first)), 1)),
        };
    }
    if first & 2 != 0 {
        return match first & 4 {
            0 => Some((Packet::Cyc(u64::from(first >> 3)), 1)),
            _ => long_cyc(window),
        };
    }
    let opcode = first & 0x1f;
    if !matches!(opcode, 0x01 | 0x0d | 0x11 | 0x1d) {
        return clock_or_mode(window);
    }
    let compression = IpCompression::from_bits(first >> 5)?;
    let ip = Ip::new(compression, word(window, 1));
    let packet = match opcode {
        0x0d => Packet::Tip(ip),
        0x1d => Packet::Fup(ip),
        0x11 => Packet::TipPge(ip),
        _ => Packet::TipPgd(ip),
    };
    Some((packet, 1 + compression.bytes()))
}

/// Eight bytes from `at` on, little endian.
#[inline(always)]
fn word(window: &Window, at: usize) -> u64 {
    u64::from_le_bytes(
        *window[at..]
            .first_chunk()
            .expect("callers stay within the window"),
    )
}

/// MTC, TSC, MODE and TRIG.
#[inline]
fn clock_or_mode(window: &Window) -> Decoded {
    let next = window[1];
    match window[0] {
        0x59 => Some((Packet::Mtc(next), 2)),
        0x19 => Some((Packet::Tsc(word(window, 1) & (u64::MAX >> 8)), 8)),
        0x99 => Some((mode(next)?, 2)),
        0xd9 => Some(trigger(window)),
        _ => None,
    }
}

fn mode(byte: u8) -> Option<Packet> {
    match byte >> 5 {
        0 => Some(ModeExec::from_bits(byte))
            .filter(|mode| mode.mode().is_some())
            .map(Packet::ModeExec),
        1 => Some(Packet::ModeTsx(ModeTsx::from_bits(byte))),
        _ => None,
    }
}

fn trigger(window: &Window) -> (Packet, usize) {
    let trigger = Trigger::new(
        window[1],
        window[2],
        u16::from_le_bytes([window[3], window[4]]),
    );
    (
        Packet::Trigger(trigger),
        if trigger.instructions().is_some() {
            5
        } else {
            3
        },
    )
}

/// Five bits of the first byte, then seven of each that follows, in up to ten bytes; what goes beyond 64 bits is lost.
fn long_cyc(window: &Window) -> Decoded {
    let more = &window[1..LONGEST_CYC];
    let length = 1 + more.iter().position(|byte| byte & 1 == 0)?;
    let bits = |(index, byte): (usize, &u8)| u64::from(byte >> 1) << (5 + 7 * index);
    let high = more[..length]
        .iter()
        .enumerate()
        .map(bits)
        .fold(0, |high, bits| high | bits);
    Some((Packet::Cyc(high | u64::from(window[0] >> 3)), 1 + length))
}

/// Bytes of a CYC packet of 64 bits.
const LONGEST_CYC: usize = 10;

fn item(window: &Window, items: Option<ItemSize>) -> Decoded {
    let size = items?;
    Some((
        Packet::BlockItem(BlockItem::new(window[0] >> 3, size, word(window, 1))),
        1 + size.bytes(),
    ))
}

/// Packets whose first byte is 02.
fn extended(window: &Window) -> Decoded {
    let low = |bytes: usize| word(window, 2) & (u64::MAX >> (64 - 8 * bytes));
    let half = u16::from_le_bytes([window[2], window[3]]);
    Some(match window[1] {
        0xa3 => (Packet::Tnt(Tnt::from_stopped(low(6))), 8),
        0x03 => (Packet::Cbr(half), 4),
        0x73 => (Packet::Tma(Tma::from_bits(low(5))), 7),
        0x82 if *window == PSB => (Packet::Psb, PSB.len()),
        0x23 => (Packet::PsbEnd, 2),
        0xf3 => (Packet::Ovf, 2),
        0x83 => (Packet::TraceStop, 2),
        0x43 => (Packet::Pip(Pip::from_bits(low(6))), 8),
        0xc8 => (Packet::Vmcs(low(5)), 7),
        0xc3 if window[2] == 0x88 => (Packet::Mnt(word(window, 3)), 11),
        0x12 | 0x92 => (
            Packet::PtWrite(PtWrite::dword(low(4) as u32, window[1] & 0x80 != 0)),
            6,
        ),
        0x32 | 0xb2 => (
            Packet::PtWrite(PtWrite::qword(low(8), window[1] & 0x80 != 0)),
            10,
        ),
        0x62 | 0xe2 => (Packet::ExStop(window[1] & 0x80 != 0), 2),
        0xc2 => (Packet::Mwait(Mwait::from_bits(low(8))), 10),
        0x22 => (Packet::PowerEntry(PowerEntry::from_bits(half)), 4),
        0xa2 => (Packet::PowerExit(PowerExit::from_bits(low(5))), 7),
        0x63 => (Packet::BlockBegin(Block::from_bits(window[2])), 3),
        0x33 | 0xb3 => (Packet::BlockEnd(window[1] & 0x80 != 0), 2),
        0x13 => (
            Packet::ControlFlowEvent(ControlFlowEvent::from_bits(half)),
            4,
        ),
        0x53 => (
            Packet::EventData(EventData::new(window[2], word(window, 3))),
            11,
        ),
        _ => return None,
    })
}
