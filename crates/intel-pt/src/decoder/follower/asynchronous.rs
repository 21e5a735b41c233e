//! FUP packets and what follows them: asynchronous events, and events that name their instruction.

use super::branches::Split;
use super::{Follower, Pending};
use crate::code::{CodeAddress, CodeSource};
use crate::decoder::walker::Stop;
use crate::event::{Transfer, TransferCause};
use crate::insn::{Class, classify};
use crate::item::{ErrorKind, Item};
use crate::packet::{Ip, ModeTsx, Packet};

impl Follower<'_> {
    /// A FUP packet.
    pub(super) fn on_fup(&mut self, ip: Ip, code: &impl CodeSource) {
        let Some(ip) = self.resolve(ip) else { return };
        if !self.branches || !self.emitter.processor().is_tracing() {
            self.emitter.processor_mut().switch_context();
            self.walker_mut().go_to(ip, code);
            self.on_fup_outside(ip);
            return;
        }
        if let Err(stop) = self.walk_to_fup(ip, code) {
            if !self.aborts_behind_branch() {
                return self.fail_walk(stop);
            }
            let walker = self.walker_mut();
            walker.start_path();
            walker.go_to(ip, code);
        }
        self.emitter.queue_path();
        let leaves = self.emitter.leaves_at_fup();
        self.emit_bound(ip);
        self.overflowed = false;
        if leaves {
            self.pending = Pending::Leaving(ip);
        }
    }

    /// Walks to the address of a FUP, which may be that of the instruction behind (an erratum).
    fn walk_to_fup(&mut self, ip: u64, code: &impl CodeSource) -> Result<(), Stop> {
        let errata = self.errata;
        let walker = self.walker_mut();
        let walked = walker.walk_to(ip, code);
        let ended = match walked {
            Err(Stop::Error(ErrorKind::Mismatch, last)) if errata.fup_with_next_ip => last,
            other => return other,
        };
        match walker.last_of_walk() {
            Some(last) if Some(last.ip) == ended && last.behind() == ip => {
                walker.go_to(ip, code);
                Ok(())
            }
            _ => walked,
        }
    }

    /// True if the trace of the last branch may have gone the wrong way, because it led to the abort of a transaction: then
    /// it led to the address of the FUP.
    fn aborts_behind_branch(&self) -> bool {
        let transaction = self.emitter.bound_transaction();
        self.errata.branch_before_abort && transaction.is_some_and(ModeTsx::aborted)
    }

    /// Emits the events that waited for the address of a FUP.
    pub(super) fn emit_bound(&mut self, ip: u64) {
        if let Some(aborted) = self.emitter.emit_bound(ip) {
            self.aborting = aborted;
        }
    }

    /// A FUP while nothing is traced: the address of an event, or of the program after an overflow. True if tracing begins
    /// there.
    pub(super) fn on_fup_outside(&mut self, ip: u64) -> bool {
        let is_of_event = !self.emitter.has_no_bound_events();
        self.emit_bound(ip);
        let begins = std::mem::take(&mut self.overflowed) && !is_of_event;
        if begins {
            self.set_tracing(true);
            self.emitter.emit_now(Item::Begin {
                to: ip,
                enabled: true,
                end: false,
            });
            self.emit_address();
        }
        begins
    }

    /// A packet behind a FUP at `from`: it has the target of the transfer.
    pub(super) fn on_leaving(&mut self, from: u64, packet: Packet, code: &impl CodeSource) {
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
                self.pending = Pending::None;
                self.on_enable(ip, code);
            }
            Packet::Pip(pip) => self.emitter.processor_mut().set_guest(pip.non_root()),
            Packet::ModeExec(mode) => self.emitter.processor_mut().set_mode(mode),
            Packet::Ovf => self.on_overflow(),
            Packet::Pad | Packet::Mnt(_) | Packet::Vmcs(_) => {}
            other => {
                self.pending = Pending::None;
                self.fail(ErrorKind::Mismatch, Some(from));
                self.on_packet(other, code);
            }
        }
    }

    /// True if the instruction at `ip` enters a guest.
    fn enters_guest(&self, ip: u64, code: &impl CodeSource) -> bool {
        let context = self.emitter.processor().context();
        let found = code.code(CodeAddress {
            ip,
            guest: context.guest,
        });
        let instruction = found.and_then(|found| classify(found.from(ip), context.mode));
        instruction.is_some_and(|instruction| instruction.class == Class::VmEntry)
    }

    fn arrive_from(&mut self, from: u64, to: Option<u64>, end: bool, code: &impl CodeSource) {
        self.pending = Pending::None;
        if end && self.errata.fup_of_vm_entry && self.enters_guest(from, code) {
            return self.follow_split(Split::end_at(from, to), code);
        }
        let abort = std::mem::take(&mut self.aborting);
        let transfer = Transfer {
            by: TransferCause::Asynchronous,
            to,
            end,
        };
        self.emitter.begin_transfer(Some(from), transfer);
        let crosses = !end && self.emitter.processor().changes_guest();
        if end {
            self.stop_tracing(to.or(Some(from)));
        } else if let Some(to) = to {
            self.walker_mut().go_to_next_context(to, code);
        }
        self.emitter.processor_mut().set_guest_toggled(crosses);
        self.emitter.emit_now(Item::Async {
            from,
            to,
            end,
            abort,
        });
        if !end {
            self.emitter.processor_mut().switch_context();
        }
        self.emitter.end_transfer();
        self.emit_address();
    }
}
