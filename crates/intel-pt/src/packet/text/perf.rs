//! The dump of packets in perf's layout: an offset, the bytes, and what they say.
//!
//! As in perf, zeros behind a packet of less than eight bytes stand in its line, up to eight bytes in all; what begins
//! no packet is one byte and `Bad packet!`; and the packets of trigger tracing, which perf does not know, are bad.

use super::line::Line;
use super::number::{PAIRS, named, named_hex};
use crate::packet::{ExecMode, Ip, IpCompression, Packet, PacketReader, Tnt};

/// The lines of a piece of trace.
///
/// ```
/// use intel_pt::packet::text::perf::Dump;
/// let mut text = Vec::new();
/// assert!(!Dump::new(&[0x59, 0x94, 0x00]).write(1 << 20, &mut text));
/// assert_eq!(text, b".  00000000:  59 94 00                                        MTC 0x94\n");
/// ```
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    reader: PacketReader<'a>,
}

/// First byte of a packet of trigger tracing.
const TRIGGER: u8 = 0xd9;

/// Bytes up to which zeros are taken for the packet before them.
const FILLED: usize = 8;

impl<'a> Dump<'a> {
    /// The lines of `trace`, whose first byte has offset 0.
    pub const fn new(trace: &'a [u8]) -> Dump<'a> {
        Dump {
            reader: PacketReader::new(trace),
        }
    }

    /// Appends lines until the trace ends or `out` has grown by `limit` bytes, of which the last line may be above.
    /// True if there are more.
    pub fn write(&mut self, limit: usize, out: &mut Vec<u8>) -> bool {
        let end = out.len().saturating_add(limit);
        while out.len() < end {
            if !self.write_line(out) {
                return false;
            }
        }
        true
    }

    #[inline]
    fn write_line(&mut self, out: &mut Vec<u8>) -> bool {
        let start = self.reader.offset();
        if let Some(byte) = self.next_outcomes() {
            Line::of_outcomes(start, byte).write(out);
            return true;
        }
        let Some(packet) = self.next_known() else {
            return false;
        };
        if packet.is_some() {
            while self.reader.offset() - start < FILLED && self.reader.rest().first() == Some(&0) {
                self.reader.step();
            }
        }
        let line = Line::new(
            start as u64,
            &self.reader.trace()[start..self.reader.offset()],
        );
        write_packet(line, packet, out);
        true
    }

    /// Reads a TNT packet of one byte that has its line for itself, if it comes next.
    #[inline]
    fn next_outcomes(&mut self) -> Option<u8> {
        match self.reader.rest() {
            [_, 0, ..] => None,
            _ => self.reader.next_short_tnt(),
        }
    }

    /// The next packet, or `Some(None)` where perf knows none.
    #[inline]
    fn next_known(&mut self) -> Option<Option<Packet>> {
        if self.reader.rest().first() == Some(&TRIGGER) {
            self.reader.step();
            return Some(None);
        }
        self.reader.next().map(Result::ok)
    }
}

/// Appends an offset or address, and bytes (16 at most), as the first columns of a line in perf's log.
pub fn write_columns(offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    Line::new(offset, bytes).write(out);
    out.remove(start);
}

/// Appends the line of a packet in perf's log: as in the dump, without the dot.
pub(crate) fn write_log_line(offset: u64, bytes: &[u8], packet: Option<Packet>, out: &mut Vec<u8>) {
    let start = out.len();
    write_packet(Line::new(offset, bytes), packet, out);
    out.remove(start);
}

/// Appends what a packet says, and the end of the line.
#[inline]
fn write_packet(line: Line, packet: Option<Packet>, out: &mut Vec<u8>) {
    match packet {
        Some(Packet::Tip(ip)) => address(line, b"TIP", ip, out),
        Some(Packet::Fup(ip)) => address(line, b"FUP", ip, out),
        Some(Packet::TipPge(ip)) => address(line, b"TIP.PGE", ip, out),
        Some(Packet::TipPgd(ip)) => address(line, b"TIP.PGD", ip, out),
        Some(packet) => {
            line.write(out);
            describe(packet, out);
            out.push(b'\n');
        }
        None => {
            line.write(out);
            out.extend_from_slice(b"Bad packet!\n");
        }
    }
}

/// Appends the line of a packet with an address.
#[inline]
fn address(mut line: Line, name: &[u8], ip: Ip, out: &mut Vec<u8>) {
    line.push(name);
    match ip.compression() {
        IpCompression::Suppressed => line.push(b" no ip"),
        _ => {
            line.push(b" 0x");
            line.push_hex(ip.payload());
        }
    }
    line.push(b"\n");
    line.write(out);
}

fn outcomes(tnt: Tnt, out: &mut Vec<u8>) {
    out.extend_from_slice(b"TNT ");
    out.extend(tnt.outcomes().map(|taken| if taken { b'T' } else { b'N' }));
    named(" (", tnt.count(), out);
    out.push(b')');
}

/// Appends what a packet without an address says.
fn describe(packet: Packet, out: &mut Vec<u8>) {
    match packet {
        Packet::Tnt(tnt) => outcomes(tnt, out),
        Packet::Pad => out.extend_from_slice(b"PAD"),
        Packet::Psb => out.extend_from_slice(b"PSB"),
        Packet::PsbEnd => out.extend_from_slice(b"PSBEND"),
        Packet::Ovf => out.extend_from_slice(b"OVF"),
        Packet::TraceStop => out.extend_from_slice(b"TraceSTOP"),
        Packet::Cyc(cycles) => named_hex("CYC ", cycles, out),
        Packet::Mtc(counter) => named_hex("MTC ", counter.into(), out),
        Packet::Tsc(counter) => named_hex("TSC ", counter, out),
        Packet::Cbr(ratio) => named_hex("CBR ", ratio.into(), out),
        Packet::Vmcs(base) => named_hex("VMCS ", base, out),
        Packet::Mnt(payload) => named_hex("MNT ", payload, out),
        Packet::Tma(tma) => {
            named_hex("TMA CTC ", tma.ctc().into(), out);
            named_hex(" FC ", tma.fast().into(), out);
        }
        Packet::ModeExec(mode) => {
            named("MODE.Exec IF:", mode.interrupt_flag().into(), out);
            named(" ", mode.mode().map_or(0, bits), out);
        }
        Packet::ModeTsx(mode) => {
            named("MODE.TSX TXAbort:", mode.aborted().into(), out);
            named(" InTX:", mode.in_transaction().into(), out);
        }
        Packet::Pip(pip) => {
            named_hex("PIP ", pip.bits() >> 1, out);
            named(" (NR=", pip.non_root().into(), out);
            out.push(b')');
        }
        Packet::PtWrite(write) => {
            named_hex("PTWRITE ", write.value(), out);
            named(" IP:", write.ip().into(), out);
        }
        _ => describe_event(packet, out),
    }
}

/// Power, blocks and events.
fn describe_event(packet: Packet, out: &mut Vec<u8>) {
    match packet {
        Packet::ExStop(ip) => named("EXSTOP IP:", ip.into(), out),
        Packet::BlockEnd(ip) => named("BEP IP:", ip.into(), out),
        Packet::Mwait(wait) => {
            named_hex("MWAIT ", wait.bits(), out);
            named_hex(" Hints ", wait.hints().into(), out);
            named_hex(" Extensions ", wait.extensions().into(), out);
        }
        Packet::PowerEntry(entry) => {
            named_hex("PWRE ", entry.bits().into(), out);
            named(" HW:", entry.hardware().into(), out);
            named(" CState:", entry.c_state(), out);
            named(" Sub-CState:", entry.sub_c_state(), out);
        }
        Packet::PowerExit(exit) => {
            named_hex("PWRX ", exit.bits(), out);
            named(" Last CState:", exit.last(), out);
            named(" Deepest CState:", exit.deepest(), out);
            named_hex(" Wake Reason ", exit.wake_reason().into(), out);
        }
        Packet::BlockBegin(block) => {
            named("BBP SZ ", block.item_size().bytes() as u8, out);
            named_hex("-byte Type ", block.kind().into(), out);
        }
        Packet::BlockItem(item) => {
            byte("BIP ID ", item.id(), out);
            named_hex(" Value ", item.value(), out);
        }
        Packet::ControlFlowEvent(event) => {
            named("CFE IP:", event.ip().into(), out);
            byte(" Type ", event.kind(), out);
            byte(" Vector ", event.vector(), out);
        }
        Packet::EventData(data) => {
            byte("EVD Type ", data.kind(), out);
            named_hex(" Payload ", data.value(), out);
        }
        _ => {}
    }
}

/// Appends `name` and a byte with both digits.
fn byte(name: &str, value: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"0x");
    out.extend_from_slice(&PAIRS[usize::from(value)]);
}

/// The width of the code.
fn bits(mode: ExecMode) -> u8 {
    match mode {
        ExecMode::Bits16 => 16,
        ExecMode::Bits32 => 32,
        ExecMode::Bits64 => 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::bytes;

    /// Bytes and words of each line that the dump of `hex` has.
    fn lines(hex: &str) -> Vec<String> {
        let mut text = Vec::new();
        while Dump::write(&mut Dump::new(&bytes(hex)), usize::MAX, &mut text) {}
        let text = String::from_utf8(text).unwrap();
        text.lines()
            .map(|line| {
                line.split_whitespace()
                    .skip(2)
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect()
    }

    #[test]
    fn every_packet() {
        for (hex, line) in [
            (
                "0282028202820282 0282028202820282",
                "02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82 PSB",
            ),
            ("0223", "02 23 PSBEND"),
            ("02f3", "02 f3 OVF"),
            ("0283", "02 83 TraceSTOP"),
            ("2c", "2c TNT NTTN (4)"),
            ("02a3 060000000000", "02 a3 06 00 00 00 00 00 TNT TN (2)"),
            ("02a3 010000000000", "02 a3 01 00 00 00 00 00 TNT (0)"),
            ("2d0102", "2d 01 02 TIP 0x201"),
            ("31f00f", "31 f0 0f TIP.PGE 0xff0"),
            ("01", "01 TIP.PGD no ip"),
            ("7d0102030405f6", "7d 01 02 03 04 05 f6 FUP 0xf60504030201"),
            ("ffff02", "ff ff 02 CYC 0x1fff"),
            ("5900", "59 00 MTC 0x0"),
            (
                "1901020304050607",
                "19 01 02 03 04 05 06 07 TSC 0x7060504030201",
            ),
            (
                "02730102ff0301",
                "02 73 01 02 ff 03 01 TMA CTC 0x201 FC 0x103",
            ),
            ("02031e01", "02 03 1e 01 CBR 0x11e"),
            ("9906", "99 06 MODE.Exec IF:1 32"),
            ("9922", "99 22 MODE.TSX TXAbort:1 InTX:0"),
            (
                "0243010203040506",
                "02 43 01 02 03 04 05 06 PIP 0x30282018100 (NR=1)",
            ),
            ("02c80102030405", "02 c8 01 02 03 04 05 VMCS 0x504030201"),
            (
                "02c3880102030405060708",
                "02 c3 88 01 02 03 04 05 06 07 08 MNT 0x807060504030201",
            ),
            ("029201020304", "02 92 01 02 03 04 PTWRITE 0x4030201 IP:1"),
            ("02e2", "02 e2 EXSTOP IP:1"),
            (
                "02c2ff00000003000000",
                "02 c2 ff 00 00 00 03 00 00 00 MWAIT 0x3000000ff Hints 0xff Extensions 0x3",
            ),
            (
                "02228012",
                "02 22 80 12 PWRE 0x1280 HW:1 CState:1 Sub-CState:2",
            ),
            (
                "02a21204000000",
                "02 a2 12 04 00 00 00 PWRX 0x412 Last CState:1 Deepest CState:2 Wake Reason 0x4",
            ),
            ("0233", "02 33 BEP IP:0"),
            ("02139f20", "02 13 9f 20 CFE IP:1 Type 0x1f Vector 0x20"),
            (
                "0253ff0102030405060708",
                "02 53 ff 01 02 03 04 05 06 07 08 EVD Type 0x3f Payload 0x807060504030201",
            ),
        ] {
            assert_eq!(lines(hex), [line]);
        }
        let block = [
            "02 63 84 BBP SZ 4-byte Type 0x4",
            "14 01 02 03 04 BIP ID 0x02 Value 0x4030201",
        ];
        assert_eq!(lines("026384 1401020304"), block);
    }

    #[test]
    fn zeros_stand_in_the_line_of_the_packet_before_them() {
        assert_eq!(
            lines("0282f0 0000000000 0000"),
            [
                "02 Bad packet!",
                "82 TNT NNNNNT (6)",
                "f0 00 00 00 00 00 00 00 TNT TTTNNN (6)"
            ]
        );
        assert_eq!(lines("02 0000"), ["02 Bad packet!", "00 00 PAD"]);
        assert_eq!(
            lines(&"00".repeat(9)),
            ["00 00 00 00 00 00 00 00 PAD", "00 PAD"]
        );
    }

    #[test]
    fn bad_packets_leave_blocks_open() {
        let item = "14 01 02 03 04 BIP ID 0x02 Value 0x4030201";
        assert_eq!(lines("026384 45 1401020304")[2], item);
        assert_eq!(lines("026384 d9 1401020304")[1..], ["d9 Bad packet!", item]);
    }

    #[test]
    fn the_text_comes_in_pieces() {
        let trace = [0x59; 64];
        let (mut pieces, mut whole) = (Vec::new(), Vec::new());
        let mut dump = Dump::new(&trace);
        let mut count = 1;
        while dump.write(1, &mut pieces) {
            count += 1;
        }
        assert!(!Dump::new(&trace).write(usize::MAX, &mut whole));
        assert_eq!((count, pieces), (33, whole));
    }
}
