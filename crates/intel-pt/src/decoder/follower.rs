//! The packets of a trace, one after the other, and their effect on the layers below.

mod asynchronous;
mod branches;
mod emulated;
mod sync;

use super::checkpoint::Checkpoint;
use super::emitter::Emitter;
use super::packet_stream::TraceChunk;
use super::timed_packets::Timing;
use super::walker::{Deferred, Walker};
use crate::code::CodeSource;
use crate::config::{Config, EmitOptions, QuickMode};
use crate::errata::Errata;
use crate::event::RatioPlace;
use crate::item::Item;
use crate::note::Note;
use crate::packet::{Ip, Packet, Tnt};
use branches::Split;
use sync::PsbPlus;

/// The aim of reading packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Look for a PSB.
    FindPsb,
    /// Look for an address.
    FindIp,
    /// Follow the trace.
    Follow,
}

/// Something that was begun and needs more packets, or waits until the items before it have been taken.
#[derive(Clone, Copy, Debug, Default)]
enum Pending {
    #[default]
    None,
    /// The status packets behind a PSB.
    PsbPlus(PsbPlus),
    /// An asynchronous event left from this address; the next packet has the target.
    Leaving(u64),
    /// Outcomes that wait for a TIP packet.
    Deferred(Deferred),
    /// The last instruction of a path, for when the items before it have been taken.
    Split(Split),
    /// Outcomes that are followed when the items before them have been taken.
    Outcomes(Tnt),
}

/// Follows the flow of control that packets describe.
#[derive(Debug)]
pub(super) struct Follower<'t> {
    emitter: Emitter<'t>,
    phase: Phase,
    pending: Pending,
    /// Packets were dropped, and no address came since.
    overflowed: bool,
    /// The next asynchronous event is the abort of a transaction.
    aborting: bool,
    branches: bool,
    errata: Errata,
}

impl<'t> Follower<'t> {
    pub(super) fn new(config: &Config, options: EmitOptions) -> Follower<'t> {
        Follower {
            emitter: Emitter::new(config, options),
            phase: Phase::FindPsb,
            pending: Pending::None,
            overflowed: false,
            aborting: false,
            branches: config.branches,
            errata: config.errata,
        }
    }

    #[inline]
    pub(super) fn emitter(&self) -> &Emitter<'t> {
        &self.emitter
    }

    #[inline]
    pub(super) fn emitter_mut(&mut self) -> &mut Emitter<'t> {
        &mut self.emitter
    }

    #[inline]
    fn walker(&self) -> &Walker<'t> {
        self.emitter.walker()
    }

    #[inline]
    fn walker_mut(&mut self) -> &mut Walker<'t> {
        self.emitter.walker_mut()
    }

    /// Pushes a chunk of trace; one that does not follow the last begins anew.
    pub(super) fn push(&mut self, chunk: TraceChunk<'t>) {
        self.emitter.push(chunk);
        if !chunk.consecutive {
            self.lose_way(Phase::FindPsb);
            self.emitter.note(Note::SeeksPsb);
        }
    }

    /// The state here; `None` where more than a [`Checkpoint`] holds would be needed to go on.
    pub(super) fn checkpoint(&self) -> Option<Checkpoint> {
        let (walker, trace) = (self.walker(), self.emitter.trace());
        let ip = walker.position_ip()?;
        let is_bare = matches!(self.pending, Pending::None) && self.emitter.is_empty();
        let follows = self.phase == Phase::Follow
            && trace.processor().is_tracing()
            && walker.has_empty_stack();
        let is_odd = trace.processor().changes_context()
            || self.overflowed
            || self.aborting
            || !self.emitter.has_no_waiting_events()
            || trace.last_ip() != Some(ip);
        if !is_bare || !follows || is_odd || !trace.packets().is_whole() {
            return None;
        }
        Some(self.emitter.checkpoint(ip))
    }

    /// Goes on at a checkpoint, with the trace behind it.
    pub(super) fn restore(
        &mut self,
        from: &Checkpoint,
        chunk: TraceChunk<'t>,
        code: &impl CodeSource,
        paused: bool,
    ) {
        self.lose_way(Phase::Follow);
        self.walker_mut().follow_code(code, paused);
        self.overflowed = false;
        self.aborting = false;
        self.emitter.restore(from, chunk);
        let walker = self.walker_mut();
        walker.clear_stack();
        walker.forget_path();
        walker.go_to(from.ip, code);
    }

    /// Finishes what waited for items to be taken. Gives the first item that it makes.
    #[inline]
    pub(super) fn finish_pending(&mut self, code: &impl CodeSource) -> Option<Item> {
        if let Pending::Split(_) | Pending::Outcomes(_) = self.pending {
            self.finish_waiting(code)
        } else {
            None
        }
    }

    #[cold]
    fn finish_waiting(&mut self, code: &impl CodeSource) -> Option<Item> {
        loop {
            match self.pending {
                Pending::Split(split) => {
                    self.pending = Pending::None;
                    self.follow_split(split, code);
                }
                Pending::Outcomes(rest) => {
                    self.pending = Pending::None;
                    self.on_tnt(rest, code);
                }
                _ => return None,
            }
            if let Some(item) = self.emitter.next_queued() {
                return Some(item);
            }
        }
    }

    /// Reads a packet and does what it says.
    #[inline]
    pub(super) fn step(&mut self, code: &impl CodeSource) -> Option<Item> {
        self.walker_mut().begin_packet();
        if self.walker().is_in_old_code() && self.leave_old_code(code) {
            return self.emitter.next_queued();
        }
        let Some(node) = self.ready() else {
            return self.step_any(code);
        };
        let trace = self.emitter.trace_mut();
        if let Some(byte) = trace.next_short_tnt() {
            return self.follow_byte(node, byte, code);
        }
        match trace.next_tip() {
            Some(ip) => self.follow_tip(node, ip, code),
            None => self.step_any(code),
        }
    }

    /// The position of the program, if a TNT or TIP packet may come.
    #[inline]
    fn ready(&self) -> Option<u32> {
        let walker = self.walker();
        let is_ready = self.phase == Phase::Follow
            && matches!(self.pending, Pending::None)
            && !self.is_quick()
            && !self.emitter.keeps_notes()
            && !walker.is_in_old_code();
        walker.position().filter(|_| is_ready)
    }

    /// Runs the code of before a pause up to its first branch; true if the path ends there.
    #[cold]
    fn leave_old_code(&mut self, code: &impl CodeSource) -> bool {
        let follows = self.phase == Phase::Follow;
        let walker = self.walker_mut();
        walker.start_path();
        let position = walker.position().filter(|_| follows);
        let left = walker.leave_old_code(position, code);
        if left {
            self.emitter.queue_path();
        }
        left
    }

    fn step_any(&mut self, code: &impl CodeSource) -> Option<Item> {
        let trace = self.emitter.trace_mut();
        if self.phase == Phase::FindPsb && !trace.find_psb() {
            return Some(self.emitter.emit_at_once(Item::End));
        }
        let Some(packet) = trace.next() else {
            return Some(self.emitter.emit_at_once(Item::End));
        };
        self.emitter.note_packet(packet);
        match packet {
            Ok(packet) => self.on_packet(packet, code),
            Err(_) => self.on_bad_packet(code),
        }
        self.emitter.next_queued()
    }

    fn on_packet(&mut self, packet: Packet, code: &impl CodeSource) {
        if matches!(self.pending, Pending::Deferred(_)) && !Deferred::is_answered_by(packet) {
            return self.refuse_deferred(packet, code);
        }
        if self.on_timing(packet) {
            return;
        }
        match (&self.pending, self.phase) {
            (Pending::PsbPlus(_), _) => self.on_psb_plus(packet, code),
            (_, Phase::FindPsb | Phase::FindIp) => self.seek(packet, code),
            (&Pending::Leaving(from), Phase::Follow) => self.on_leaving(from, packet, code),
            (_, Phase::Follow) => {
                if !matches!(packet, Packet::Fup(_) | Packet::Pad) {
                    self.emitter.forget_bound_mode();
                }
                if self.is_quick() {
                    self.on_quick(packet, code);
                } else {
                    self.on_steering(packet, code);
                }
            }
        }
    }

    /// Applies a timing packet; true if it was one.
    #[inline]
    fn on_timing(&mut self, packet: Packet) -> bool {
        let behind_cyc = self.emitter.trace().clock().is_behind_cyc();
        let in_psb_plus = matches!(self.pending, Pending::PsbPlus(_));
        match self.emitter.on_timing(packet, in_psb_plus) {
            Timing::None => return false,
            Timing::Applied => {}
            Timing::Ratio => {
                if self.phase == Phase::Follow && !in_psb_plus {
                    self.emitter.emit_ratio(RatioPlace::Here);
                }
            }
            Timing::Overflow => self.on_overflow(),
        }
        self.emitter.note_time(packet, behind_cyc);
        true
    }

    /// A packet that steers the flow of control, or an event.
    fn on_steering(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            // The FUP behind an overflow may be missing (SKD010): any address will do.
            Packet::Tnt(_) if self.overflowed => {}
            Packet::Tip(ip) if self.overflowed => {
                self.set_tracing(true);
                self.found(ip, false, code);
            }
            Packet::Tnt(tnt) => self.on_tnt(tnt, code),
            Packet::Tip(ip) => self.on_tip(ip, false, code),
            Packet::TipPgd(ip) => self.on_tip(ip, true, code),
            Packet::TipPge(ip) => self.on_enable(ip, code),
            Packet::Fup(ip) => self.on_fup(ip, code),
            Packet::Psb => self.begin_psb(),
            Packet::Ovf => self.on_overflow(),
            Packet::TraceStop => self.on_trace_stop(),
            other => self.emitter.on_event(other),
        }
    }

    // Quick modes: the addresses that packets name become items, and no code is walked.

    /// True if code is not walked.
    #[inline]
    fn is_quick(&self) -> bool {
        self.emitter.options().quick != QuickMode::Walk
    }

    /// A packet that steers the flow of control, or an event, where code is not walked.
    fn on_quick(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            Packet::Tnt(_) => {}
            Packet::Tip(ip) => self.quick_to(ip, code),
            Packet::TipPgd(ip) => {
                let to = self.resolve(ip);
                self.stop_tracing(to.or(self.walker().ip()));
                if let Some(to) = to {
                    self.emitter.emit_now(Item::Begin {
                        to,
                        enabled: false,
                        end: true,
                    });
                }
            }
            Packet::Fup(ip) => self.quick_fup(ip, code),
            Packet::TipPge(ip) => {
                self.on_enable(ip, code);
                self.emit_address();
            }
            other => self.on_steering(other, code),
        }
    }

    fn quick_to(&mut self, ip: Ip, code: &impl CodeSource) {
        if let Some(to) = self.resolve(ip) {
            self.emitter.processor_mut().switch_context();
            self.walker_mut().go_to(to, code);
            self.emit_address();
        }
    }

    fn quick_fup(&mut self, ip: Ip, code: &impl CodeSource) {
        let Some(ip) = self.resolve(ip) else { return };
        self.walker_mut().go_to(ip, code);
        if !self.branches || !self.emitter.processor().is_tracing() {
            let begins = self.on_fup_outside(ip);
            if !begins {
                self.emit_address();
            }
            return;
        }
        let leaves = self.emitter.leaves_at_fup();
        self.emit_bound(ip);
        if leaves {
            // Its item is that of the transfer.
            self.pending = Pending::Leaving(ip);
        } else {
            self.emit_address();
        }
    }

    /// Emits the address of the program, where code is not walked.
    fn emit_address(&mut self) {
        if let Some(ip) = self.walker().position_ip().filter(|_| self.is_quick()) {
            self.emitter.emit_now(Item::Address { ip });
        }
    }

    // Pauses.

    /// True if what the next packet says can wait.
    ///
    /// As in perf, what comes at a limit or later is looked at before the decoder pauses: errors are items at once, packets
    /// of timing alone are read, and the first code up to a branch is still the code of before, whatever is mapped there
    /// when decoding goes on.
    #[cold]
    pub(super) fn can_wait(&mut self, code: &impl CodeSource) -> bool {
        let trace = self.emitter.trace();
        if !trace.packets().is_whole() {
            return true;
        }
        let Some(Ok(packet)) = trace.ahead().next() else {
            return false;
        };
        if matches!(self.pending, Pending::Deferred(_)) {
            return Deferred::is_answered_by(packet);
        }
        match packet {
            Packet::Pad
            | Packet::Mtc(_)
            | Packet::Tsc(_)
            | Packet::Tma(_)
            | Packet::Cyc(_)
            | Packet::ModeExec(_)
            | Packet::ModeTsx(_)
            | Packet::Pip(_)
            | Packet::Vmcs(_)
            | Packet::Mnt(_)
            | Packet::Ovf
            | Packet::TraceStop
            | Packet::Psb => false,
            Packet::Cbr(payload) => self.emitter.is_new_ratio(payload),
            _ if self.phase == Phase::FindPsb => false,
            Packet::Tip(_) | Packet::TipPge(_) | Packet::TipPgd(_) | Packet::Fup(_)
                if self.phase == Phase::FindIp =>
            {
                true
            }
            _ if self.phase == Phase::FindIp => false,
            Packet::Tnt(_) if self.is_quick() || self.overflowed => false,
            _ if self.is_quick() => true,
            Packet::Tnt(_) | Packet::Tip(_) if matches!(self.pending, Pending::None) => {
                self.walker_mut().arrives_at_branch(packet, code)
            }
            _ => true,
        }
    }
}
