//! A look ahead in a trace, without following the code: the state of a decoder behind each PSB+.

use super::checkpoint::Checkpoint;
use super::packet_stream::TraceChunk;
use crate::config::{Config, EmitOptions};
use crate::item::Tsc;
use crate::packet::{ModeExec, Packet, PacketReader};

/// Predicts [`Checkpoint`]s from one on, in a small part of the time that decoding takes.
///
/// If the trace is damaged or does not fit the code, decoding may find another state: compare.
#[derive(Clone, Debug)]
pub struct PsbScanner<'t> {
    reader: PacketReader<'t>,
    base: u64,
    /// The state so far; its place and address are those of the last PSB+.
    state: Checkpoint,
    enabled: bool,
    /// Packets were dropped, and no address came since.
    overflowed: bool,
    /// Inside a PSB+: the address in it.
    psb: Option<Option<u64>>,
    limit: Option<Tsc>,
}

impl<'t> PsbScanner<'t> {
    /// Looks ahead from a checkpoint, in the trace behind it, up to the packet at the time `limit`.
    pub fn new(from: &Checkpoint, chunk: TraceChunk<'t>, limit: Option<Tsc>) -> PsbScanner<'t> {
        let (reader, state) = (PacketReader::new(chunk.bytes), from.clone());
        PsbScanner {
            reader,
            base: from.offset,
            state,
            enabled: true,
            overflowed: false,
            psb: None,
            limit,
        }
    }

    /// Looks ahead from the first PSB in a chunk of trace, as a decoder that knows nothing of what comes before it. Such
    /// a one knows less of the clocks than one that does, till it has read some PSB+ more.
    pub fn anew(
        config: &Config,
        options: EmitOptions,
        chunk: TraceChunk<'t>,
        limit: Option<Tsc>,
    ) -> PsbScanner<'t> {
        let mut state = Checkpoint::of_beginning(config, options);
        state.offset = chunk.offset;
        state.clock.restart(chunk.reference);
        let mut scanner = PsbScanner {
            enabled: false,
            ..PsbScanner::new(&state, chunk, limit)
        };
        scanner.reader.resync();
        scanner
    }

    /// The place in the trace up to which it has looked.
    pub fn offset(&self) -> u64 {
        self.base + self.reader.offset() as u64
    }

    /// Applies a timing packet; says whether it was one.
    #[inline]
    fn on_timing(&mut self, packet: Packet) -> bool {
        let (clock, tracing) = (&mut self.state.clock, self.enabled);
        match packet {
            Packet::Cyc(count) => clock.on_cyc(count, tracing, 0),
            Packet::Mtc(mtc) => clock.on_mtc(mtc, tracing, 0, self.reader.clone()),
            Packet::Tsc(tsc) => clock.on_tsc(tsc, 0),
            Packet::Tma(tma) => clock.on_tma(tma, tracing, self.psb.is_some()),
            Packet::Cbr(payload) => {
                clock.on_cbr(payload as u8, tracing);
                self.state.cbr_payload = payload;
                if self.psb.is_none() {
                    self.take_ratio();
                }
            }
            _ => return false,
        }
        true
    }

    fn take_ratio(&mut self) {
        let ratio = self.state.clock.cbr();
        if ratio != self.state.emitted_cbr {
            self.state.emitted_cbr = ratio;
            self.state.decided = self.state.clock.time();
            self.state.fresh = self.state.clock.take_fresh();
        }
    }

    /// Takes note of a packet; says whether a PSB+ with an address ended.
    fn on_packet(&mut self, packet: Packet) -> bool {
        if self.on_timing(packet) {
            return false;
        }
        self.state.clock.other_packet();
        match (packet, self.psb) {
            (Packet::PsbEnd, Some(ip)) => return self.end_psb(ip),
            (Packet::Fup(ip), Some(_)) => {
                self.enabled = true;
                self.psb = Some(ip.resolve(0));
            }
            (Packet::ModeExec(mode), inside) => self.set_mode(mode, inside.is_some()),
            (Packet::ModeTsx(mode), _) => self.state.mode.in_transaction = mode.in_transaction(),
            (Packet::Pip(pip), _) => {
                (self.state.context.guest, self.state.mode.guest) =
                    (pip.non_root(), pip.non_root());
            }
            (Packet::Pad | Packet::Vmcs(_) | Packet::Mnt(_), _) => {}
            (packet, inside) => {
                if inside.is_some() && packet != Packet::Ovf {
                    self.state.clock.untie();
                }
                self.psb = None;
                self.on_flow(packet);
            }
        }
        false
    }

    /// Passes over outcomes of branches, which change nothing that is predicted.
    #[inline]
    fn pass_outcomes(&mut self) {
        if !self.enabled || self.overflowed || self.psb.is_some() {
            return;
        }
        if self.reader.skip_outcomes() {
            self.state.clock.other_packet();
        }
    }

    fn on_flow(&mut self, packet: Packet) {
        match packet {
            Packet::Psb => self.psb = Some(None),
            Packet::TipPge(_) => {
                (self.enabled, self.overflowed) = (true, false);
                self.state.clock.rebase_estimate();
            }
            Packet::TipPgd(_) => self.enabled = false,
            Packet::Fup(_) | Packet::Tip(_) => self.enabled |= std::mem::take(&mut self.overflowed),
            Packet::Ovf => {
                (self.enabled, self.overflowed) = (false, true);
                self.state.mode.in_transaction = false;
            }
            Packet::TraceStop => {
                (self.enabled, self.state.mode.in_transaction) = (false, false);
                self.state.clock.untie();
            }
            _ => {}
        }
    }

    fn set_mode(&mut self, mode: ModeExec, now: bool) {
        if let Some(width) = mode.mode() {
            self.state.context.mode = width;
        }
        self.state.interrupts = mode.interrupt_flag();
        if now {
            self.state.mode.interrupts_disabled = !self.state.interrupts;
        }
    }

    fn end_psb(&mut self, ip: Option<u64>) -> bool {
        self.psb = None;
        self.overflowed &= ip.is_none();
        self.state.fresh = self.state.clock.take_fresh();
        self.state.decided = self.state.clock.tsc().or(self.state.clock.time());
        self.take_ratio();
        self.state.ip = ip.unwrap_or_default();
        self.state.offset = self.offset();
        ip.is_some()
    }

    fn is_due(&self) -> bool {
        self.limit
            .is_some_and(|limit| self.state.clock.time() >= Some(limit))
    }
}

impl Iterator for PsbScanner<'_> {
    type Item = Checkpoint;

    /// The next checkpoint; `None` at the limit, at the end, or where no packet begins.
    fn next(&mut self) -> Option<Checkpoint> {
        while !self.is_due() {
            self.pass_outcomes();
            let packet = self.reader.next()?.ok()?;
            if self.on_packet(packet) && !self.is_due() {
                let clock = self.state.clock.begin_count();
                let samplers = self
                    .state
                    .samplers
                    .guesses(clock.time().map_or(0, |time| time.0));
                return Some(Checkpoint {
                    clock,
                    samplers,
                    ..self.state.clone()
                });
            }
        }
        None
    }
}
