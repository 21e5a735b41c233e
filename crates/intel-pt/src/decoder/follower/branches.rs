//! TNT and TIP packets: the outcomes of branches.

use super::emulated::emulated_value;
use super::{Follower, Pending, Phase};
use crate::code::CodeSource;
use crate::decoder::walker::{Deferred, Stop};
use crate::event::{Event, Transfer, TransferCause};
use crate::graph::End;
use crate::item::{ErrorKind, Item};
use crate::packet::{Ip, Packet, Tnt};

/// The transfer of control by an indirect branch.
#[derive(Clone, Copy, Debug)]
struct Jump {
    target: Option<u64>,
    /// Tracing ends with it.
    end: bool,
    /// Outcomes behind it.
    deferred: Option<Deferred>,
}

/// The last instruction of a walk, which is an item of its own: something else comes with its transfer of control, such
/// as a new interrupt flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    ip: u64,
    jump: Jump,
}

impl Split {
    /// The instruction at `ip` ends tracing.
    pub(super) fn end_at(ip: u64, target: Option<u64>) -> Split {
        let jump = Jump {
            target,
            end: true,
            deferred: None,
        };
        Split { ip, jump }
    }
}

impl Follower<'_> {
    /// Follows a TNT packet of one byte from `node`.
    #[inline]
    pub(super) fn follow_byte(
        &mut self,
        node: u32,
        byte: u8,
        code: &impl CodeSource,
    ) -> Option<Item> {
        self.emitter.forget_bound_mode();
        let Some(count) = self.walker_mut().follow_cached(node, byte) else {
            let stop = self.walker_mut().walk_byte(node, byte, code);
            self.finish(stop);
            return self.emitter.next_queued();
        };
        let item = self.emitter.close_path(count, true, first_taken(byte))?;
        Some(self.emitter.emit_decided(item))
    }

    /// Follows a TIP packet from `node`.
    #[inline]
    pub(super) fn follow_tip(&mut self, node: u32, ip: Ip, code: &impl CodeSource) -> Option<Item> {
        self.emitter.forget_bound_mode();
        let is_plain = !self.emitter.has_event_of_transfer()
            && !self.emitter.processor().changes_context()
            && matches!(self.walker().node(node).end, End::Return | End::Indirect);
        let target = if is_plain { self.resolve(ip) } else { None };
        let Some(target) = target else {
            self.on_tip(ip, false, code);
            return self.emitter.next_queued();
        };
        let count = self.walker_mut().take_indirect(node, target, code);
        let item = self.emitter.close_path(count, true, true)?;
        Some(self.emitter.emit_decided(item))
    }

    /// A TNT packet of any form.
    pub(super) fn on_tnt(&mut self, tnt: Tnt, code: &impl CodeSource) {
        if tnt.count() == 0 {
            return;
        }
        let walker = self.walker_mut();
        walker.start_path();
        let stop = walker.walk(tnt, code);
        self.finish(stop);
    }

    /// Ends a walk that consumed outcomes.
    fn finish(&mut self, stop: Stop) {
        if let Stop::Error(kind, ip) = stop {
            self.queue_stopped_path(kind);
            return self.fail(kind, ip);
        }
        self.emitter.queue_path();
        match stop {
            Stop::Used | Stop::Error(..) => {}
            Stop::Deferred(deferred) => self.pending = Pending::Deferred(deferred),
            Stop::Split(rest) => self.pending = outcomes(rest),
            Stop::Announced(rest) => {
                self.pending = outcomes(rest);
                self.emit_emulated_write(rest);
            }
        }
    }

    /// Emits the value that the outcomes which are left and those of the packets ahead are. The walk through the branches
    /// themselves goes on afterwards.
    fn emit_emulated_write(&mut self, rest: Option<Tnt>) {
        let ahead = self.emitter.trace().ahead();
        match rest.and_then(|rest| emulated_value(rest, ahead)) {
            Some(value) => self.emitter.emit_event(Event::PtWrite { value, ip: None }),
            None => self.emitter.emit_error(ErrorKind::BrokenPtWrite),
        }
    }

    /// Queues a path that could not go on.
    fn queue_stopped_path(&mut self, kind: ErrorKind) {
        self.walker_mut().refuse(kind);
        self.emitter.queue_path();
    }

    /// Queues the path of a walk to an address that stopped before it.
    pub(super) fn fail_walk(&mut self, stop: Stop) {
        if let Stop::Error(..) = stop {
            self.finish(stop);
        }
    }

    /// Emits an error and looks for a new address.
    pub(super) fn fail(&mut self, kind: ErrorKind, ip: Option<u64>) {
        self.emitter.emit_error_at(kind, ip);
        let last_ip = self.emitter.trace().last_ip();
        self.lose_way(Phase::FindIp);
        if kind != ErrorKind::MissingCode {
            self.emitter.trace_mut().set_last_ip(last_ip);
            self.walker_mut().lose_position(ip);
        }
    }

    /// Walks to the indirect branch that waits for its TIP packet, which does not come.
    pub(super) fn walk_to_deferred(&mut self, code: &impl CodeSource) {
        let walker = self.walker_mut();
        walker.start_path();
        if let Ok((number, _)) = walker.arrive(code) {
            let last = walker.last_ip_of(number);
            let count = walker.node(number).count.saturating_sub(1);
            walker.visit_part(number, count);
            walker.go_to(last, code);
            self.emitter.queue_path();
        }
    }

    /// Another packet came than the TIP that an indirect branch waits for.
    pub(super) fn refuse_deferred(&mut self, packet: Packet, code: &impl CodeSource) {
        self.pending = Pending::None;
        let walker = self.walker_mut();
        walker.start_path();
        let stop = match walker.arrive(code) {
            Ok((number, _)) => walker.refuse_block(number),
            Err(stop) => stop,
        };
        self.finish(stop);
        self.on_packet(packet, code);
    }

    /// The outcomes that wait for a TIP packet, which wait no more.
    fn take_deferred(&mut self) -> Option<Deferred> {
        match self.pending {
            Pending::Deferred(deferred) => {
                self.pending = Pending::None;
                Some(deferred)
            }
            _ => None,
        }
    }

    /// A TIP packet, or TIP.PGD where `end` is set.
    pub(super) fn on_tip(&mut self, ip: Ip, end: bool, code: &impl CodeSource) {
        let target = self.resolve(ip);
        if end && self.walker().ip().is_none() {
            return self.stop_tracing(target);
        }
        let jump = Jump {
            target,
            end,
            deferred: self.take_deferred(),
        };
        let walker = self.walker_mut();
        walker.start_path();
        if end && let Some(to) = walker.leave_by_jump(target, code) {
            return self.end_path_at(to);
        }
        let stop = match walker.arrive(code) {
            Ok((number, End::Return | End::Indirect)) if target.is_none() && !end => {
                walker.refuse_block(number)
            }
            Ok((number, End::Return | End::Indirect)) => {
                if self.emitter.has_event_of_transfer() {
                    return self.split(number, jump, code);
                }
                self.walker_mut().leave(number, target, end);
                Stop::Used
            }
            Ok((number, _)) => {
                let to = if end {
                    walker.leave_by_branch(number, target, code)
                } else {
                    None
                };
                if let Some(to) = to {
                    return self.end_path_at(to);
                }
                walker.refuse_block(number)
            }
            Err(stop) => stop,
        };
        self.go_on_behind(stop, jump, code);
    }

    fn end_path_at(&mut self, to: u64) {
        self.walker_mut().end_path_at(to);
        self.emitter.queue_path();
        self.stop_tracing(Some(to));
    }

    /// Goes on behind a transfer of control, if the walk came to it.
    fn go_on_behind(&mut self, stop: Stop, jump: Jump, code: &impl CodeSource) {
        if stop != Stop::Used {
            return self.finish(stop);
        }
        if jump.end {
            self.emitter.queue_path();
            let last = self.walker().last_ip_of_path();
            return self.stop_tracing(jump.target.or(last));
        }
        if let Some(target) = jump.target {
            if self.emitter.processor().changes_context() {
                return self.enter_context(target, jump.deferred, code);
            }
            self.walker_mut().go_to_new_code(target, code);
        }
        let Some(Deferred { rest, is_whole }) = jump.deferred else {
            return self.finish(stop);
        };
        let walker = self.walker_mut();
        if is_whole {
            walker.set_undecided();
        }
        let stop = match walker.walk(rest, code) {
            Stop::Deferred(again) => Stop::Deferred(Deferred {
                is_whole: is_whole && again.is_whole,
                ..again
            }),
            stop => stop,
        };
        self.finish(stop);
    }

    /// Emits the path before the last instruction of a block, and the events of that one.
    fn split(&mut self, number: u32, jump: Jump, code: &impl CodeSource) {
        let walker = self.walker_mut();
        let Some(last) = walker.block(number).instructions().last().copied() else {
            return;
        };
        let count = walker.node(number).count;
        if count > 1 {
            walker.visit_part(number, count - 1);
        }
        self.emitter.queue_path();
        let transfer = Transfer {
            by: TransferCause::Instruction(last.class),
            to: jump.target,
            end: jump.end,
        };
        self.emitter.begin_transfer(Some(last.ip), transfer);
        let split = Split { ip: last.ip, jump };
        if self.emitter.is_empty() {
            return self.follow_split(split, code);
        }
        self.pending = Pending::Split(split);
    }

    /// Goes on with the instruction that was left over, once all before it has been taken.
    pub(super) fn follow_split(&mut self, split: Split, code: &impl CodeSource) {
        let Split { ip, jump } = split;
        let walker = self.walker_mut();
        walker.go_to(ip, code);
        walker.start_path();
        let stop = match walker.arrive(code) {
            Ok((number, _)) => {
                walker.leave(number, jump.target, jump.end);
                Stop::Used
            }
            Err(stop) => stop,
        };
        self.go_on_behind(stop, jump, code);
        self.emitter.end_transfer();
    }

    /// Goes on where code is read another way, or is another's: the path ends there.
    fn enter_context(&mut self, target: u64, deferred: Option<Deferred>, code: &impl CodeSource) {
        let processor = self.emitter.processor_mut();
        let toggles = processor.changes_guest();
        processor.set_guest_toggled(toggles);
        self.walker_mut().set_next_ip(target);
        self.emitter.queue_path();
        self.emitter.processor_mut().switch_context();
        self.walker_mut().go_to(target, code);
        self.pending = outcomes(deferred.map(|deferred| deferred.rest));
    }
}

/// Outcomes that wait, if there are any.
fn outcomes(rest: Option<Tnt>) -> Pending {
    rest.map_or(Pending::None, Pending::Outcomes)
}

/// True if the first outcome of a TNT packet of one byte is "taken".
#[inline]
const fn first_taken(byte: u8) -> bool {
    let stop = 7 - byte.leading_zeros();
    byte >> (stop - 1) & 1 == 1
}
