//! TNT and TIP packets: the outcomes of branches.

use super::walk::{Deferred, Stop};
use super::{Decoder, Phase};
use crate::code::CodeSource;
use crate::graph::End;
use crate::item::{ErrorKind, Item};
use crate::packet::{Ip, Packet, Tnt};
use crate::path::BlockVisit;

impl Decoder<'_> {
    /// Follows a TNT packet of one byte from `node`.
    #[inline]
    pub(super) fn follow_byte(
        &mut self,
        node: u32,
        byte: u8,
        code: &impl CodeSource,
    ) -> Option<Item> {
        self.clock.other_packet();
        self.bound.mode = None;
        let Some(path) = self.graph.tnt_cache.follow(node, byte, &mut self.stack) else {
            self.walk_byte(node, byte, code);
            return self.told();
        };
        self.node = Some(path.end);
        let (place, count) = (path.place(), u64::from(path.instructions));
        let item = self.close_way(place, count, first_taken(byte))?;
        self.stamp = self.stamp(self.decided);
        Some(item)
    }

    /// Follows a TIP packet from `number`.
    #[inline]
    pub(super) fn follow_tip(
        &mut self,
        number: u32,
        ip: Ip,
        code: &impl CodeSource,
    ) -> Option<Item> {
        self.clock.other_packet();
        self.bound.mode = None;
        let node = self.graph.nodes[number as usize];
        if self.transfer_tells()
            || self.next_context != self.context
            || !matches!(node.end, End::Return | End::Indirect)
        {
            self.on_tip(ip, false, code);
            return self.told();
        }
        let Some(target) = self.resolve(ip) else {
            self.on_tip(ip, false, code);
            return self.told();
        };
        if node.end == End::Return {
            self.stack.pop();
        }
        self.graph
            .pushes(&node)
            .iter()
            .for_each(|&back| self.stack.push(back));
        self.run.start();
        self.run.visits.push(BlockVisit::new(number, true));
        self.node = Some(self.graph.node_at(target, self.context, code));
        let item = self.close_run(u64::from(node.count), true, true)?;
        self.stamp = self.stamp(self.decided);
        Some(item)
    }

    /// Follows a TNT packet of one byte step by step, and remembers the way.
    fn walk_byte(&mut self, node: u32, byte: u8, code: &impl CodeSource) {
        let tnt = Tnt::from_byte(byte);
        self.run.start();
        self.recorder.clear();
        let stop = self.walk(tnt, code);
        if let (Stop::Used, Some(end)) = (stop, self.node) {
            let (visits, count) = (&self.run.visits, self.run.count);
            self.graph
                .tnt_cache
                .add(node, byte, end, count, visits, &self.recorder);
        }
        self.finish(stop);
    }

    /// A TNT packet of any form.
    pub(super) fn on_tnt(&mut self, tnt: Tnt, code: &impl CodeSource) {
        if tnt.count() == 0 {
            return;
        }
        self.run.start();
        let stop = self.walk(tnt, code);
        self.finish(stop);
    }

    /// Follows outcomes until they are used up.
    fn walk(&mut self, tnt: Tnt, code: &impl CodeSource) -> Stop {
        let mut left = tnt.count();
        while left != 0 {
            if self.held.in_old_code && self.leave_old_code(code) {
                self.resumed = Tnt::long(tnt.bits() & ((1 << left) - 1), left);
                return Stop::Told;
            }
            let (node, end) = match self.arrive_or_stop(code) {
                Ok(arrived) => arrived,
                Err(Stop::Announced) => {
                    self.resumed = Tnt::long(tnt.bits() & ((1 << left) - 1), left);
                    return Stop::Announced;
                }
                Err(stop) => return stop,
            };
            let taken = tnt.bits() >> (left - 1) & 1 == 1;
            match end {
                End::Conditional => {
                    self.branch(node, taken);
                    if taken && self.held.in_old_code {
                        self.renew_node(code);
                    }
                }
                End::Return if self.config.return_compression => {
                    if let Err(stop) = self.return_compressed(node, taken, code) {
                        return stop;
                    }
                }
                _ => {
                    self.recorder.poison();
                    let rest = tnt.bits() & ((1 << left) - 1);
                    let is_whole = left == tnt.count();
                    return Tnt::long(rest, left).map_or(Stop::Used, |rest| {
                        Stop::Deferred(Deferred { rest, is_whole })
                    });
                }
            }
            left -= 1;
        }
        Stop::Used
    }

    #[inline]
    fn branch(&mut self, number: u32, taken: bool) {
        self.visit(number, taken);
        let node = &self.graph.nodes[number as usize];
        self.node = Some(if taken { node.taken } else { node.next });
    }

    fn return_compressed(
        &mut self,
        number: u32,
        taken: bool,
        code: &impl CodeSource,
    ) -> Result<(), Stop> {
        self.visit(number, true);
        let ip = self.last_ip_of(number);
        let (Some((mut back, stale)), true) = (self.stack.pop(), taken) else {
            return Err(Stop::Error(ErrorKind::Mismatch, ip));
        };
        if stale {
            self.recorder.poison();
            back = self
                .graph
                .node_at(self.graph.nodes[back as usize].ip, self.context, code);
        }
        self.recorder.pop(back);
        self.held.in_old_code = false;
        self.node = Some(back);
        Ok(())
    }

    /// Ends a walk that consumed outcomes.
    fn finish(&mut self, stop: Stop) {
        match stop {
            Stop::Used => self.queue_walk(),
            Stop::Told => {}
            Stop::Deferred(rest) => {
                self.queue_walk();
                self.deferred = Some(rest);
            }
            Stop::Announced => {
                self.queue_walk();
                self.tell_emulated_write();
            }
            Stop::Error(kind, ip) => {
                self.queue_stopped_walk(kind);
                self.fail(kind, ip);
            }
        }
    }

    /// Queues a walk that could not go on. An instruction whose outcome does not fit is not told.
    pub(super) fn queue_stopped_walk(&mut self, kind: ErrorKind) {
        if let Some(visit) = self.run.visits.last() {
            let node = self.graph.nodes[visit.block().index()];
            self.run.refused = kind == ErrorKind::Mismatch;
            let refused = u32::from(self.run.refused);
            // Behind a branch that was followed, the way ended before any other instruction.
            let decided = matches!(node.end, End::Conditional | End::Return | End::Indirect);
            self.run.partial = Some(node.count - refused).filter(|_| refused == 1 || !decided);
        }
        self.queue_walk();
    }

    /// Whether a packet can be the TIP that an indirect branch waits for, or comes before it.
    pub(super) fn answers_deferred(&self, packet: Packet) -> bool {
        match packet {
            Packet::Tip(ip) => ip.compression().bytes() != 0,
            Packet::Pad => true,
            _ => false,
        }
    }

    /// Walks to the indirect branch that waits for its TIP packet, which does not come.
    pub(super) fn walk_to_deferred(&mut self, code: &impl CodeSource) {
        self.run.start();
        if let Ok((number, _)) = self.arrive(code) {
            let last = self.last_ip_of(number);
            self.visit_part(
                number,
                self.graph.nodes[number as usize].count.saturating_sub(1),
            );
            self.node = Some(self.graph.node_at(last, self.context, code));
            self.queue_walk();
        }
    }

    /// Another packet came than the TIP that an indirect branch waits for.
    pub(super) fn refuse_deferred(&mut self, packet: Packet, code: &impl CodeSource) {
        self.deferred = None;
        self.run.start();
        let stop = match self.arrive(code) {
            Ok((number, _)) => {
                self.visit(number, false);
                Stop::Error(ErrorKind::Mismatch, self.last_ip_of(number))
            }
            Err(stop) => stop,
        };
        self.finish(stop);
        self.on_packet(packet, code);
    }

    /// Tells an error and looks for a new address.
    pub(super) fn fail(&mut self, kind: ErrorKind, ip: u64) {
        self.tell_error_at(kind, ip);
        match kind {
            ErrorKind::MissingCode => self.lose_way(Phase::FindIp),
            _ => {
                let last_ip = self.last_ip;
                self.lose_way(Phase::FindIp);
                self.last_ip = last_ip;
                self.lost_ip = ip;
            }
        }
    }

    /// A TIP packet, or TIP.PGD where `end` is set.
    pub(super) fn on_tip(&mut self, ip: Ip, end: bool, code: &impl CodeSource) {
        let target = self.resolve(ip);
        if self.node.is_none() && end && self.lost_ip == 0 {
            return self.stop_tracing(target.unwrap_or(0));
        }
        self.run.start();
        if end && self.leaves_by_jump(target, code) {
            return;
        }
        let stop = match self.arrive(code) {
            Ok((number, End::Return | End::Indirect)) if target.is_none() && !end => {
                self.visit(number, false);
                Stop::Error(ErrorKind::Mismatch, self.last_ip_of(number))
            }
            Ok((number, End::Return | End::Indirect)) if self.transfer_tells() => {
                return self.split(number, target, end, code);
            }
            Ok((number, End::Return)) => self.leave(number, target, end, true),
            Ok((number, End::Indirect)) => self.leave(number, target, end, false),
            Ok((number, _)) if end && self.leaves_by_branch(number, target, code) => return,
            Ok((number, _)) => {
                self.visit(number, false);
                Stop::Error(ErrorKind::Mismatch, self.last_ip_of(number))
            }
            Err(stop) => stop,
        };
        self.go_on_behind_tip(stop, target, end, code);
    }

    pub(super) fn go_on_behind_tip(
        &mut self,
        stop: Stop,
        target: Option<u64>,
        end: bool,
        code: &impl CodeSource,
    ) {
        if stop != Stop::Used {
            return self.finish(stop);
        }
        if end {
            self.queue_walk();
            let last = self
                .run
                .visits
                .last()
                .map_or(0, |visit| self.last_ip_of(visit.block().0));
            return self.stop_tracing(target.unwrap_or(last));
        }
        if let Some(target) = target {
            if self.next_context != self.context {
                return self.enter_context(target, code);
            }
            self.held.in_old_code = false;
            self.node = Some(self.graph.node_at(target, self.context, code));
        }
        let Some(Deferred { rest, is_whole }) = self.deferred.take() else {
            return self.finish(stop);
        };
        if is_whole {
            self.run.undecided = self.run.visits.len();
        }
        let stop = match self.walk(rest, code) {
            Stop::Deferred(again) => Stop::Deferred(Deferred {
                is_whole: is_whole && again.is_whole,
                ..again
            }),
            stop => stop,
        };
        self.finish(stop);
    }

    pub(super) fn leave(
        &mut self,
        number: u32,
        target: Option<u64>,
        end: bool,
        is_return: bool,
    ) -> Stop {
        self.visit(number, true);
        if is_return {
            self.stack.pop();
        }
        if end {
            self.run.next = target;
            self.run.end = true;
        }
        Stop::Used
    }

    /// Whether a direct jump on the way leaves the traced addresses; then the run ends with it. `told` is the target in
    /// the packet.
    fn leaves_by_jump(&mut self, told: Option<u64>, code: &impl CodeSource) -> bool {
        let Some(number) = self.node else {
            return false;
        };
        if self.graph.nodes[number as usize].end == End::Unknown {
            self.graph.build(number, self.context, code);
        }
        let node = self.graph.nodes[number as usize];
        let block = self.graph.block(number);
        let behind = |jump: u16| match block.instructions().get(usize::from(jump) + 1) {
            Some(next) => next.ip,
            None => self.graph.nodes[node.next as usize].ip,
        };
        let leaves = |to: u64| Some(to) == told || code.is_filtered_out(to);
        let left = block.jumps().iter().find(|&&jump| leaves(behind(jump)));
        let Some((count, to)) = left.map(|&jump| (u32::from(jump) + 1, behind(jump))) else {
            return false;
        };
        self.run.visits.push(BlockVisit::new(number, true));
        self.run.count += u64::from(count);
        self.run.partial = Some(count);
        self.end_run_at(to);
        true
    }

    /// Whether the conditional branch at the end of the block leaves the traced addresses, by branching or not.
    fn leaves_by_branch(&mut self, number: u32, told: Option<u64>, code: &impl CodeSource) -> bool {
        let node = self.graph.nodes[number as usize];
        let [taken, next] = [node.taken, node.next].map(|to| self.graph.nodes[to as usize].ip);
        if Some(taken) == told || code.is_filtered_out(taken) {
            self.visit(number, true);
            self.end_run_at(taken);
        } else if Some(next) == told {
            self.visit(number, false);
            self.end_run_at(next);
        } else {
            return false;
        }
        true
    }

    fn end_run_at(&mut self, to: u64) {
        self.run.next = Some(to);
        self.run.end = true;
        self.queue_walk();
        self.stop_tracing(to);
    }

    /// Tracing is off; the last that is known of the program is that it was at `ip`.
    pub(super) fn stop_tracing(&mut self, ip: u64) {
        self.enabled = false;
        self.node = None;
        self.lost_ip = ip;
        self.deferred = None;
        self.samplers.interrupt();
    }

    /// The address of a packet, which becomes the last one.
    #[inline]
    pub(super) fn resolve(&mut self, ip: Ip) -> Option<u64> {
        let address = ip.resolve(self.last_ip.unwrap_or_default())?;
        self.last_ip = Some(address);
        Some(address)
    }
}

/// Whether the first outcome of a TNT packet of one byte is "taken".
#[inline]
const fn first_taken(byte: u8) -> bool {
    let stop = 7 - byte.leading_zeros();
    byte >> (stop - 1) & 1 == 1
}
