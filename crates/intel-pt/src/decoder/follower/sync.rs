//! Finding the way: PSB+, addresses after an error, and the loss of both.

use super::{Follower, Pending, Phase};
use crate::code::CodeSource;
use crate::config::QuickMode;
use crate::event::{Event, RatioPlace, Transfer, TransferCause};
use crate::item::{ErrorKind, Item};
use crate::note::Note;
use crate::packet::{Ip, Packet};

/// The status packets behind a PSB.
#[derive(Clone, Copy, Debug)]
pub(super) struct PsbPlus {
    offset: u64,
    /// The address in them.
    ip: Option<u64>,
    /// An address was looked for when it came.
    sought: bool,
}

impl Follower<'_> {
    /// A PSB: compressed state begins anew.
    pub(super) fn begin_psb(&mut self) {
        self.pending = Pending::PsbPlus(PsbPlus {
            offset: self.emitter.trace().packets().offset_of_packet(),
            ip: None,
            sought: self.phase == Phase::FindIp,
        });
        self.emitter.trace_mut().set_last_ip(Some(0));
        self.walker_mut().clear_stack();
    }

    /// A packet between PSB and PSBEND.
    pub(super) fn on_psb_plus(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            Packet::PsbEnd => self.end_psb(code),
            Packet::Fup(ip) => {
                self.set_tracing(true);
                let address = self.resolve(ip);
                if let (Pending::PsbPlus(psb), Some(_)) = (&mut self.pending, address) {
                    psb.ip = address;
                }
            }
            Packet::ModeExec(_) | Packet::ModeTsx(_) | Packet::Pip(_) => self.on_state(packet),
            Packet::Ovf => self.on_overflow(),
            Packet::Pad | Packet::Vmcs(_) | Packet::Mnt(_) => {}
            unexpected => {
                self.emitter.trace_mut().clock_mut().untie();
                self.pending = Pending::None;
                self.on_packet(unexpected, code);
            }
        }
    }

    /// A packet with state of the processor that holds at once.
    fn on_state(&mut self, packet: Packet) {
        let processor = self.emitter.processor_mut();
        match packet {
            Packet::ModeExec(mode) => processor.set_mode_now(mode),
            Packet::ModeTsx(mode) => processor.set_in_transaction(mode.in_transaction()),
            Packet::Pip(pip) => processor.set_guest_now(pip.non_root()),
            _ => {}
        }
    }

    fn end_psb(&mut self, code: &impl CodeSource) {
        let Pending::PsbPlus(PsbPlus { offset, ip, sought }) = self.pending else {
            return;
        };
        self.pending = Pending::None;
        if let Some(ip) = ip {
            self.go_on_at(ip, code);
        }
        self.emitter.emit_psb(Event::Psb {
            offset,
            ip,
            begins: sought && ip.is_some(),
        });
        self.emitter.emit_ratio(match ip {
            None => RatioPlace::Unknown,
            Some(ip) if sought => RatioPlace::Begin(ip),
            Some(_) => RatioPlace::Here,
        });
        self.phase = Phase::Follow;
        if ip.is_some() {
            self.emit_address();
        }
        if self.emitter.options().quick == QuickMode::Psb {
            self.emitter.note(Note::SeeksPsb);
            self.phase = Phase::FindPsb;
        }
    }

    /// Walks to the address that a PSB names, or goes on there at once where that is not the way.
    fn go_on_at(&mut self, ip: u64, code: &impl CodeSource) {
        let position = self.walker().position();
        // Where the program is there already nothing runs, and what ran last stays known.
        let arrived = self.walker().position_ip() == Some(ip);
        if position.is_some() && !arrived && self.phase == Phase::Follow && !self.is_quick() {
            match self.walker_mut().walk_to(ip, code) {
                Ok(()) => self.emitter.queue_path(),
                Err(_) => self.walker_mut().return_to(position),
            }
            self.walker_mut().clear_stack();
        }
        self.phase = Phase::Follow;
        self.overflowed = false;
        self.walker_mut().go_to(ip, code);
    }

    /// A packet while an address, or a PSB, is looked for.
    pub(super) fn seek(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            Packet::Psb => {
                self.begin_psb();
                if self.phase == Phase::FindPsb {
                    self.phase = Phase::FindIp;
                }
            }
            Packet::TipPge(ip) => {
                self.set_tracing(true);
                self.emitter.trace_mut().clock_mut().rebase_estimate();
                self.found(ip, true, code);
            }
            Packet::Tip(ip) => {
                self.set_tracing(true);
                self.found(ip, false, code);
            }
            Packet::Fup(ip) => self.found(ip, false, code),
            Packet::TipPgd(ip) => self.found_end(ip),
            Packet::Ovf => self.on_overflow(),
            Packet::TraceStop => self.on_trace_stop(),
            other => self.on_state(other),
        }
    }

    /// An address was found: decoding goes on there, if it is complete.
    pub(super) fn found(&mut self, ip: Ip, enabled: bool, code: &impl CodeSource) {
        if let Some(address) = self.resolve_or_remember(ip) {
            if self.phase == Phase::FindIp {
                self.emitter.note(Note::Finds { ip: address });
            }
            self.begin(address, enabled, code);
            self.emit_address();
        }
    }

    /// The first address that is found is where tracing ends.
    fn found_end(&mut self, ip: Ip) {
        let address = self.resolve_or_remember(ip);
        self.stop_tracing(address);
        if let Some(to) = address {
            self.phase = Phase::Follow;
            self.overflowed = false;
            self.emitter.emit_now(Item::Begin {
                to,
                enabled: false,
                end: true,
            });
        }
    }

    /// The address of a packet, or else the one at which the trace stopped making sense.
    fn resolve_or_remember(&mut self, ip: Ip) -> Option<u64> {
        let address = self.emitter.trace_mut().resolve_complete(ip);
        address.or(self.walker().last_known_ip())
    }

    /// The address of a packet, which becomes the last one.
    #[inline]
    pub(super) fn resolve(&mut self, ip: Ip) -> Option<u64> {
        self.emitter.trace_mut().resolve(ip)
    }

    /// The program runs on at `to`.
    fn begin(&mut self, to: u64, enabled: bool, code: &impl CodeSource) {
        self.phase = Phase::Follow;
        self.overflowed = false;
        self.emitter.processor_mut().switch_context();
        let walker = self.walker_mut();
        walker.forget_last_known_ip();
        walker.go_to(to, code);
        self.emitter.emit_ratio(RatioPlace::Begin(to));
        let transfer = Transfer {
            by: TransferCause::Begin,
            to: Some(to),
            end: false,
        };
        self.emitter.begin_transfer(None, transfer);
        self.emitter.emit_now(Item::Begin {
            to,
            enabled,
            end: false,
        });
        self.emitter.end_transfer();
    }

    /// TIP.PGE: tracing begins.
    pub(super) fn on_enable(&mut self, ip: Ip, code: &impl CodeSource) {
        self.set_tracing(true);
        self.overflowed = false;
        self.emitter.trace_mut().clock_mut().rebase_estimate();
        if let Some(to) = self.resolve(ip) {
            self.begin(to, true, code);
        }
    }

    pub(super) fn set_tracing(&mut self, tracing: bool) {
        self.emitter.processor_mut().set_tracing(tracing);
    }

    /// Tracing is off; the last that is known of the program is its address.
    pub(super) fn stop_tracing(&mut self, ip: Option<u64>) {
        self.set_tracing(false);
        self.walker_mut().lose_position(ip);
        self.pending = Pending::None;
        self.emitter.interrupt_sampling();
    }

    /// Bytes that are no packet.
    pub(super) fn on_bad_packet(&mut self, code: &impl CodeSource) {
        if let Pending::Deferred(_) = self.pending {
            self.pending = Pending::None;
            self.walk_to_deferred(code);
        }
        self.emitter.processor_mut().set_in_transaction(false);
        self.emitter.trace_mut().clock_mut().untie();
        self.emitter.emit_error(ErrorKind::BadPacket);
    }

    pub(super) fn on_overflow(&mut self) {
        self.emitter.processor_mut().set_in_transaction(false);
        // The time of an overflow is known, not guessed.
        self.emitter.restart_count_since_time();
        self.emitter.emit_error(ErrorKind::Overflow);
        self.set_tracing(false);
        self.walker_mut().lose_position(None);
        self.emitter.forget_bound();
        self.pending = Pending::None;
        self.overflowed = true;
        self.phase = Phase::Follow;
    }

    pub(super) fn on_trace_stop(&mut self) {
        self.set_tracing(false);
        self.emitter.interrupt_sampling();
        self.emitter.processor_mut().set_in_transaction(false);
        self.emitter.trace_mut().clock_mut().untie();
    }

    /// The flow of control cannot be followed from here.
    pub(super) fn lose_way(&mut self, phase: Phase) {
        if phase == Phase::FindPsb {
            self.set_tracing(false);
            self.emitter.interrupt_sampling();
            self.walker_mut().clear_stack();
            self.overflowed = false;
        }
        self.walker_mut().lose_position(None);
        self.emitter.trace_mut().set_last_ip(None);
        self.emitter.processor_mut().switch_context();
        self.emitter.forget_bound();
        self.pending = Pending::None;
        self.phase = phase;
    }
}
