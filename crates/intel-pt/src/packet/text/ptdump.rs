//! Packets as libipt's `ptdump` shows them: an offset, the packet's name, its payload, and what follows from it.
//!
//! As there, reading begins at the first PSB and goes on at the next one behind damage, and clocks with bits that the
//! manual reserves are damage. Columns may be of other widths.

use super::number::{PAIRS, hex};
use crate::packet::{
    BadPacket, ControlFlowEvent, ExecMode, Ip, IpCompression, ModeExec, ModeTsx, Packet,
    PacketReader, PowerEntry, PowerExit, Problem, PtWrite, Trigger,
};
use std::io::Write;

/// The content of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Begin at the first PSB, not at the first byte.
    pub sync: bool,
    /// Begin lines with the packet's offset.
    pub offset: bool,
    /// Show the packet's bytes.
    pub raw: bool,
    /// Show addresses in full behind compressed ones.
    pub last_ip: bool,
    /// Name the execution mode.
    pub exec_mode: bool,
    /// Show CYC packets.
    pub cyc: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            sync: true,
            offset: true,
            raw: false,
            last_ip: false,
            exec_mode: false,
            cyc: true,
        }
    }
}

/// The lines of a piece of trace.
///
/// ```
/// use intel_pt::packet::text::ptdump::{Dump, Options};
/// let mut text = Vec::new();
/// let options = Options { sync: false, ..Options::default() };
/// assert!(!Dump::new(&[0x59, 0x94], options).write(1 << 20, &mut text));
/// assert_eq!(text, b"0000000000000000  mtc        94\n");
/// ```
#[derive(Clone, Debug)]
pub struct Dump<'a> {
    reader: PacketReader<'a>,
    options: Options,
    last_ip: u64,
}

impl<'a> Dump<'a> {
    /// The lines of `trace`, whose first byte has offset 0.
    pub fn new(trace: &'a [u8], options: Options) -> Dump<'a> {
        let mut reader = PacketReader::new(trace);
        if options.sync {
            reader.resync();
        }
        Dump {
            reader,
            options,
            last_ip: 0,
        }
    }

    /// Appends lines until the trace ends or `out` has grown by `limit` bytes, of which the last line may be above.
    /// True if there are more.
    pub fn write(&mut self, limit: usize, out: &mut Vec<u8>) -> bool {
        let end = out.len().saturating_add(limit);
        while out.len() < end {
            let start = self.reader.offset();
            match self.reader.next() {
                None => return false,
                Some(Ok(Packet::Tma(tma))) if tma.reserved() != 0 => {
                    self.refuse(start, "packet", out)
                }
                Some(Ok(Packet::Cyc(_))) if !self.options.cyc => {}
                Some(Ok(packet)) => self.write_packet(start, packet, out),
                Some(Err(bad)) => self.refuse(start, what_is_unknown(&bad), out),
            }
        }
        true
    }

    fn refuse(&mut self, start: usize, what: &str, out: &mut Vec<u8>) {
        put(
            out,
            format_args!("[{start:x}: error decoding packet: unknown {what}]\n"),
        );
        self.reader.resync();
    }

    fn write_packet(&mut self, start: usize, packet: Packet, out: &mut Vec<u8>) {
        let line = out.len();
        let bytes = &self.reader.trace()[start..self.reader.offset()];
        if self.options.offset {
            put(out, format_args!("{start:016x}  "));
        }
        if self.options.raw {
            let column = out.len();
            bytes
                .iter()
                .for_each(|byte| out.extend_from_slice(&PAIRS[usize::from(*byte)]));
            pad(out, column, 34);
        }
        let column = out.len();
        out.extend_from_slice(name(packet).as_bytes());
        pad(out, column, 11);
        let column = out.len();
        payload(packet, out);
        pad(out, column, 20);
        self.track(packet, out);
        let text = out[line..].trim_ascii_end().len();
        out.truncate(line + text);
        out.push(b'\n');
    }

    /// Appends what follows from a packet.
    fn track(&mut self, packet: Packet, out: &mut Vec<u8>) {
        match packet {
            Packet::Psb => self.last_ip = 0,
            Packet::Tip(ip) | Packet::TipPge(ip) | Packet::TipPgd(ip) | Packet::Fup(ip) => {
                self.track_ip(ip, out)
            }
            Packet::Pip(pip) => put(out, format_args!(" cr3 {:016x}", pip.cr3())),
            Packet::Vmcs(base) => put(out, format_args!(" vmcs {:016x}", base << 12)),
            Packet::ControlFlowEvent(event) => {
                put(out, format_args!(" type {}", event_name(event)))
            }
            Packet::EventData(data) => put(out, format_args!(" type {}", data_name(data.kind()))),
            Packet::ModeExec(mode) if self.options.exec_mode => {
                put(out, format_args!(" em {}-bit", width(mode)))
            }
            _ => {}
        }
    }

    fn track_ip(&mut self, ip: Ip, out: &mut Vec<u8>) {
        let full = ip.resolve(self.last_ip);
        self.last_ip = full.unwrap_or(self.last_ip);
        match full {
            _ if !self.options.last_ip => {}
            Some(full) => put(out, format_args!(" ip {full:016x}")),
            None => put(out, format_args!(" ip <suppressed>")),
        }
    }
}

/// The unknown part of a packet: its kind, or its content.
fn what_is_unknown(bad: &BadPacket) -> &'static str {
    let known = match bad.found {
        [0x02, second] => {
            matches!(
                second,
                0x82 | 0xc3 | 0x12 | 0x32 | 0x52 | 0x72 | 0x92 | 0xb2 | 0xd2 | 0xf2
            )
        }
        [first, _] => matches!(first & 0x1f, 0x01 | 0x0d | 0x11 | 0x1d) || first == 0x99,
    };
    if known || bad.problem == Problem::Truncated {
        "packet"
    } else {
        "opcode"
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes everything");
}

/// Appends blanks until `out` is `width` bytes longer than at `column`.
fn pad(out: &mut Vec<u8>, column: usize, width: usize) {
    out.resize(out.len().max(column + width), b' ');
}

fn name(packet: Packet) -> &'static str {
    match packet {
        Packet::Pad => "pad",
        Packet::Tnt(tnt) if tnt.is_long() => "tnt.64",
        Packet::Tnt(_) => "tnt.8",
        Packet::Tip(_) => "tip",
        Packet::TipPge(_) => "tip.pge",
        Packet::TipPgd(_) => "tip.pgd",
        Packet::Fup(_) => "fup",
        Packet::Cyc(_) => "cyc",
        Packet::Mtc(_) => "mtc",
        Packet::Tsc(_) => "tsc",
        Packet::Tma(_) => "tma",
        Packet::Cbr(_) => "cbr",
        Packet::ModeExec(_) => "mode.exec",
        Packet::ModeTsx(_) => "mode.tsx",
        Packet::Pip(_) => "pip",
        Packet::Vmcs(_) => "vmcs",
        Packet::Psb => "psb",
        Packet::PsbEnd => "psbend",
        Packet::Ovf => "ovf",
        Packet::TraceStop => "stop",
        Packet::Mnt(_) => "mnt",
        Packet::PtWrite(_) => "ptw",
        Packet::ExStop(_) => "exstop",
        Packet::Mwait(_) => "mwait",
        Packet::PowerEntry(_) => "pwre",
        Packet::PowerExit(_) => "pwrx",
        Packet::BlockBegin(_) => "bbp",
        Packet::BlockItem(_) => "bip",
        Packet::BlockEnd(_) => "bep",
        Packet::ControlFlowEvent(_) => "cfe",
        Packet::EventData(_) => "evd",
        Packet::Trigger(_) => "trig",
    }
}

fn payload(packet: Packet, out: &mut Vec<u8>) {
    match packet {
        Packet::Tnt(tnt) => out.extend(tnt.outcomes().map(|taken| if taken { b'!' } else { b'.' })),
        Packet::Tip(ip) | Packet::TipPge(ip) | Packet::TipPgd(ip) | Packet::Fup(ip) => {
            address(ip, out)
        }
        Packet::Cyc(value) | Packet::Tsc(value) | Packet::Mnt(value) => hex(value, out),
        Packet::Mtc(counter) => hex(counter.into(), out),
        Packet::Cbr(ratio) => hex(u64::from(ratio & 0xff), out),
        Packet::Vmcs(base) => hex(base << 12, out),
        Packet::Tma(tma) => put(out, format_args!("{:x}, {:x}", tma.ctc(), tma.fast())),
        Packet::ModeExec(mode) => mode_exec(mode, out),
        Packet::ModeTsx(mode) => mode_tsx(mode, out),
        Packet::Pip(pip) => {
            hex(pip.cr3(), out);
            flag(", nr", pip.non_root(), out);
        }
        Packet::ExStop(ip) | Packet::BlockEnd(ip) => flag("ip", ip, out),
        Packet::PtWrite(write) => ptwrite(write, out),
        Packet::Mwait(wait) => put(
            out,
            format_args!("{:08x}, {:08x}", wait.hints(), wait.extensions()),
        ),
        Packet::PowerEntry(entry) => power_entry(entry, out),
        Packet::PowerExit(exit) => power_exit(exit, out),
        Packet::BlockBegin(block) => {
            put(
                out,
                format_args!("{:x}, sz{}", block.kind(), block.item_size().bytes()),
            );
        }
        Packet::BlockItem(item) => put(out, format_args!("{:x}: {:x}", item.id(), item.value())),
        Packet::ControlFlowEvent(event) => control_flow_event(event, out),
        Packet::EventData(data) => put(out, format_args!("{}: {:x}", data.kind(), data.value())),
        Packet::Trigger(trigger) => fired(trigger, out),
        Packet::Pad | Packet::Psb | Packet::PsbEnd | Packet::Ovf | Packet::TraceStop => {}
    }
}

/// Appends `text` if `set`.
fn flag(text: &str, set: bool, out: &mut Vec<u8>) {
    if set {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The compression of an address, and its digits with a mark for each that is not in the packet.
fn address(ip: Ip, out: &mut Vec<u8>) {
    let payload = ip.resolve(0).unwrap_or(0);
    put(out, format_args!("{}: ", ip.compression() as u8));
    match ip.compression() {
        IpCompression::Suppressed => put(out, format_args!("????????????????")),
        IpCompression::Update16 => put(out, format_args!("????????????{payload:04x}")),
        IpCompression::Update32 => put(out, format_args!("????????{payload:08x}")),
        IpCompression::Update48 => put(out, format_args!("????{payload:012x}")),
        IpCompression::Sext48 | IpCompression::Full => put(out, format_args!("{payload:016x}")),
    }
}

fn mode_exec(mode: ModeExec, out: &mut Vec<u8>) {
    match mode.mode() {
        Some(ExecMode::Bits64) => out.extend_from_slice(b"cs.l"),
        Some(ExecMode::Bits32) => out.extend_from_slice(b"cs.d"),
        _ => {}
    }
    let separator = if mode.bits() & 3 == 0 { "if" } else { ", if" };
    flag(separator, mode.interrupt_flag(), out);
}

fn width(mode: ModeExec) -> &'static str {
    match mode.mode() {
        Some(ExecMode::Bits64) => "64",
        Some(ExecMode::Bits32) => "32",
        Some(ExecMode::Bits16) => "16",
        None => "<unknown>",
    }
}

fn mode_tsx(mode: ModeTsx, out: &mut Vec<u8>) {
    flag("intx", mode.in_transaction(), out);
    flag(", ", mode.in_transaction() && mode.aborted(), out);
    flag("abrt", mode.aborted(), out);
}

fn ptwrite(write: PtWrite, out: &mut Vec<u8>) {
    put(
        out,
        format_args!("{}: {:x}", u8::from(write.is_qword()), write.value()),
    );
    flag(", ip", write.ip(), out);
}

/// The C-state of a field in which 0 stands for C1 and 15 for C0.
fn c_state(field: u8) -> u8 {
    (field + 1) & 0xf
}

fn power_entry(entry: PowerEntry, out: &mut Vec<u8>) {
    put(
        out,
        format_args!(
            "c{}.{}",
            c_state(entry.c_state()),
            c_state(entry.sub_c_state())
        ),
    );
    flag(", hw", entry.bits() & HARDWARE != 0, out);
}

/// The place in which libipt looks for the flag that the manual and perf have at 0x80.
const HARDWARE: u16 = 8;

fn power_exit(exit: PowerExit, out: &mut Vec<u8>) {
    for (bit, reason) in [(1, "int: "), (4, "st: "), (8, "hw: ")] {
        flag(reason, exit.wake_reason() & bit != 0, out);
    }
    put(
        out,
        format_args!("c{}, c{}", c_state(exit.last()), c_state(exit.deepest())),
    );
}

fn control_flow_event(event: ControlFlowEvent, out: &mut Vec<u8>) {
    put(out, format_args!("{}", event.kind()));
    match event.kind() {
        1 | 9 | 12 | 14 => put(out, format_args!(": {}", event.vector())),
        SIPI => put(out, format_args!(": {:x}", event.vector())),
        _ => {}
    }
    flag(", ip", event.ip(), out);
}

/// The event whose vector is the page at which a processor starts.
const SIPI: u8 = 5;

fn event_name(event: ControlFlowEvent) -> &'static str {
    const NAMES: [&str; 16] = [
        "unknown",
        "intr",
        "iret",
        "smi",
        "rsm",
        "sipi",
        "init",
        "vmentry",
        "vmexit",
        "vmexit_intr",
        "shutdown",
        "unknown",
        "uintr",
        "uiret",
        "swintr",
        "syscall",
    ];
    NAMES
        .get(usize::from(event.kind()))
        .copied()
        .unwrap_or("unknown")
}

fn data_name(kind: u8) -> &'static str {
    ["cr2", "vmxq", "vmxr"]
        .get(usize::from(kind))
        .copied()
        .unwrap_or("unknown")
}

fn fired(trigger: Trigger, out: &mut Vec<u8>) {
    put(out, format_args!("{:02x}", trigger.fired()));
    flag(", ip", trigger.ip(), out);
    flag(", mult", trigger.multiple(), out);
    if let Some(instructions) = trigger.instructions() {
        put(out, format_args!(", icnt: {instructions}"));
    }
}
