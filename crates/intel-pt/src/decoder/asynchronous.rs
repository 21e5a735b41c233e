//! FUP packets and what follows them: asynchronous events, and events that name their instruction.

use super::Decoder;
use super::transfer::Split;
use super::walk::Stop;
use crate::code::{CodeAddress, CodeSource};
use crate::event::{Transfer, TransferCause};
use crate::insn::{Class, classify};
use crate::item::{ErrorKind, Item};
use crate::packet::{Ip, Packet};

impl Decoder<'_> {
    /// A FUP packet.
    pub(super) fn on_fup(&mut self, ip: Ip, code: &impl CodeSource) {
        let Some(ip) = self.resolve(ip) else { return };
        if !self.config.branches || !self.enabled {
            self.switch_context();
            self.node = Some(self.graph.node_at(ip, self.context, code));
            self.on_fup_outside(ip);
            return;
        }
        if let Err(stop) = self.walk_to_fup(ip, code) {
            if !self.aborts_behind_branch() {
                return self.fail_walk(stop);
            }
            self.run.start();
            self.node = Some(self.graph.node_at(ip, self.context, code));
        }
        self.queue_walk();
        let leaves = self.bound.leaves();
        self.tell_bound(Some(ip));
        self.overflowed = false;
        self.leaving = leaves.then_some(ip);
    }

    /// Walks to the address of a FUP, which may be that of the instruction behind (an erratum).
    fn walk_to_fup(&mut self, ip: u64, code: &impl CodeSource) -> Result<(), Stop> {
        let walked = self.walk_to(ip, code);
        let ended = match walked {
            Err(Stop::Error(ErrorKind::Mismatch, last)) if self.config.errata.fup_with_next_ip => {
                last
            }
            other => return other,
        };
        let last = self
            .run
            .visits
            .last()
            .map(|visit| self.graph.block(visit.block().0));
        let last = last.and_then(|block| block.instructions().last());
        match last {
            Some(last) if last.ip == ended && last.behind() == ip => {
                self.node = Some(self.graph.node_at(ip, self.context, code));
                Ok(())
            }
            _ => walked,
        }
    }

    /// Whether the trace of the last branch may have told the wrong way, because it led to the abort of a transaction: then
    /// it led to the address of the FUP.
    fn aborts_behind_branch(&self) -> bool {
        self.config.errata.branch_before_abort
            && self.bound.transaction.is_some_and(|mode| mode.aborted())
    }

    fn fail_walk(&mut self, stop: Stop) {
        if let Stop::Error(kind, ip) = stop {
            self.queue_stopped_walk(kind);
            self.fail(kind, ip);
        }
    }

    /// A FUP while nothing is traced: the address of an event, or where the program is after an overflow. Says whether
    /// tracing begins there.
    pub(super) fn on_fup_outside(&mut self, ip: u64) -> bool {
        let told = !self.bound.is_empty();
        self.tell_bound(Some(ip));
        let begins = std::mem::take(&mut self.overflowed) && !told;
        if begins {
            self.enabled = true;
            self.tell_now(Item::Begin {
                to: ip,
                enabled: true,
                end: false,
            });
            self.tell_address();
        }
        begins
    }

    /// A packet behind a FUP: it says where control went.
    pub(super) fn on_leaving(&mut self, packet: Packet, code: &impl CodeSource) {
        let Some(from) = self.leaving else { return };
        match packet {
            Packet::Tip(ip) => {
                let to = self.resolve(ip);
                self.arrive_from(from, to, false, code);
            }
            Packet::TipPgd(ip) => {
                let to = self.resolve(ip);
                self.arrive_from(from, to, true, code);
            }
            Packet::TipPge(ip) => {
                self.leaving = None;
                self.on_enable(ip, code);
            }
            Packet::Pip(pip) => self.set_guest(pip.non_root()),
            Packet::ModeExec(mode) => self.set_mode(mode),
            Packet::Ovf => self.on_overflow(),
            Packet::Pad | Packet::Mnt(_) | Packet::Vmcs(_) => {}
            other => {
                self.leaving = None;
                self.fail(ErrorKind::Mismatch, from);
                self.on_packet(other, code);
            }
        }
    }

    /// Whether the instruction at `ip` enters a guest.
    fn enters_guest(&mut self, ip: u64, code: &impl CodeSource) -> bool {
        let mode = self.context.mode;
        let found = code.code(CodeAddress {
            ip,
            guest: self.context.guest,
        });
        let instruction = found.and_then(|found| classify(found.from(ip), mode));
        instruction.is_some_and(|instruction| instruction.class == Class::VmEntry)
    }

    fn arrive_from(&mut self, from: u64, to: Option<u64>, end: bool, code: &impl CodeSource) {
        self.leaving = None;
        if end && self.config.errata.fup_of_vm_entry && self.enters_guest(from, code) {
            return self.follow_split(Split::end_at(from, to), code);
        }
        let abort = std::mem::take(&mut self.aborting);
        self.begin_transfer(
            from,
            Transfer {
                by: TransferCause::Asynchronous,
                to,
                end,
            },
        );
        let crosses = !end && self.next_context.guest != self.context.guest;
        if end {
            self.stop_tracing(to.unwrap_or(from));
        } else if let Some(to) = to {
            self.node = Some(self.graph.node_at(to, self.next_context, code));
        }
        self.mode.guest_toggled = crosses;
        self.tell_now(Item::Async {
            from,
            to,
            end,
            abort,
        });
        if !end {
            self.switch_context();
        }
        self.end_transfer();
        self.tell_address();
    }
}
