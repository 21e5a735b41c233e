//! Finding the way: PSB+, and addresses after an error.

use super::{Decoder, Phase};
use crate::code::CodeSource;
use crate::config::QuickMode;
use crate::event::{Event, Transfer, TransferCause};
use crate::item::Item;
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

impl Decoder<'_> {
    /// A PSB: compressed state begins anew.
    pub(super) fn begin_psb(&mut self) {
        self.psb = Some(PsbPlus {
            offset: self.input.offset_of_packet(),
            ip: None,
            sought: self.phase == Phase::FindIp,
        });
        self.last_ip = Some(0);
        self.stack.clear();
    }

    /// A packet between PSB and PSBEND.
    pub(super) fn on_psb_plus(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            Packet::PsbEnd => self.end_psb(code),
            Packet::Fup(ip) => {
                self.enabled = true;
                let address = self.resolve(ip);
                if let (Some(psb), Some(_)) = (&mut self.psb, address) {
                    psb.ip = address;
                }
            }
            Packet::ModeExec(mode) => self.set_mode_now(mode),
            Packet::ModeTsx(mode) => self.mode.in_transaction = mode.in_transaction(),
            Packet::Pip(pip) => self.set_guest_now(pip.non_root()),
            Packet::Ovf => self.on_overflow(),
            Packet::Pad | Packet::Vmcs(_) | Packet::Mnt(_) => {}
            unexpected => {
                self.clock.untie();
                self.psb = None;
                self.on_packet(unexpected, code);
            }
        }
    }

    fn end_psb(&mut self, code: &impl CodeSource) {
        let Some(PsbPlus { offset, ip, sought }) = self.psb.take() else {
            return;
        };
        if let Some(ip) = ip {
            self.go_on_at(ip, code);
        }
        self.tell_psb(Event::Psb {
            offset,
            ip,
            begins: sought && ip.is_some(),
        });
        // Where the trace names no address, none is known for what it tells with it.
        self.tell_cbr_with(ip.map_or(Some(0), |ip| sought.then_some(ip)));
        self.phase = Phase::Follow;
        if ip.is_some() {
            self.tell_address();
        }
        if self.wanted.quick == QuickMode::Psb {
            self.notes.add(Note::SeeksPsb);
            self.phase = Phase::FindPsb;
        }
    }

    /// Walks to the address that a PSB names, or goes on there at once where that is not the way.
    fn go_on_at(&mut self, ip: u64, code: &impl CodeSource) {
        // Where the program is there already nothing runs, and what ran last stays known.
        let arrived = self
            .node
            .is_some_and(|node| self.graph.nodes[node as usize].ip == ip);
        if self.node.is_some() && !arrived && self.phase == Phase::Follow && !self.is_quick() {
            let before = self.node;
            match self.walk_to(ip, code) {
                Ok(()) => self.queue_walk(),
                Err(_) => self.node = before,
            }
            self.stack.clear();
        }
        self.phase = Phase::Follow;
        self.overflowed = false;
        self.node = Some(self.graph.node_at(ip, self.context, code));
    }

    fn tell_psb(&mut self, psb: Event) {
        self.count_cycles(true);
        self.decided = self.clock.tsc().or(self.clock.time());
        if self.wanted.events {
            self.tell(Item::Event(psb));
        }
    }

    /// A packet while an address, or a PSB, is looked for.
    pub(super) fn seek(&mut self, packet: Packet, code: &impl CodeSource) {
        if self.psb.is_some() {
            return self.on_psb_plus(packet, code);
        }
        match packet {
            Packet::Psb => {
                self.begin_psb();
                if self.phase == Phase::FindPsb {
                    self.phase = Phase::FindIp;
                }
            }
            Packet::TipPge(ip) => {
                self.enabled = true;
                self.clock.rebase_estimate();
                self.found(ip, true, code);
            }
            Packet::Tip(ip) => {
                self.enabled = true;
                self.found(ip, false, code);
            }
            Packet::Fup(ip) => self.found(ip, false, code),
            Packet::TipPgd(ip) => self.found_end(ip),
            Packet::Ovf => self.on_overflow(),
            Packet::TraceStop => self.on_trace_stop(),
            Packet::ModeExec(mode) => self.set_mode_now(mode),
            Packet::ModeTsx(mode) => self.mode.in_transaction = mode.in_transaction(),
            Packet::Pip(pip) => self.set_guest_now(pip.non_root()),
            _ => {}
        }
    }

    /// An address was found: decoding goes on there, if it is complete.
    pub(super) fn found(&mut self, ip: Ip, enabled: bool, code: &impl CodeSource) {
        if let Some(address) = self.resolve_or_remember(ip) {
            if self.phase == Phase::FindIp {
                self.notes.add(Note::Finds { ip: address });
            }
            self.begin(address, enabled, code);
            self.tell_address();
        }
    }

    /// The first address that is found is where tracing ends.
    fn found_end(&mut self, ip: Ip) {
        let address = self.resolve_or_remember(ip);
        self.stop_tracing(address.unwrap_or(0));
        if let Some(to) = address {
            self.phase = Phase::Follow;
            self.overflowed = false;
            self.tell_now(Item::Begin {
                to,
                enabled: false,
                end: true,
            });
        }
    }

    /// The address of a packet, or else the one at which the trace stopped making sense.
    fn resolve_or_remember(&mut self, ip: Ip) -> Option<u64> {
        self.resolve_complete(ip)
            .or(Some(self.lost_ip).filter(|ip| *ip != 0))
    }

    /// The address of a packet, if what it leaves out is known.
    fn resolve_complete(&mut self, ip: Ip) -> Option<u64> {
        let known = self.last_ip.is_some() || ip.is_complete();
        if known { self.resolve(ip) } else { None }
    }

    /// The program runs on at `to`.
    pub(super) fn begin(&mut self, to: u64, enabled: bool, code: &impl CodeSource) {
        self.phase = Phase::Follow;
        self.overflowed = false;
        self.lost_ip = 0;
        self.switch_context();
        self.node = Some(self.graph.node_at(to, self.context, code));
        self.tell_cbr_with(Some(to));
        self.begin_transfer(
            0,
            Transfer {
                by: TransferCause::Begin,
                to: Some(to),
                end: false,
            },
        );
        self.tell_now(Item::Begin {
            to,
            enabled,
            end: false,
        });
        self.end_transfer();
    }

    /// TIP.PGE: tracing begins.
    pub(super) fn on_enable(&mut self, ip: Ip, code: &impl CodeSource) {
        self.enabled = true;
        self.overflowed = false;
        self.clock.rebase_estimate();
        if let Some(to) = self.resolve(ip) {
            self.begin(to, true, code);
        }
    }
}
