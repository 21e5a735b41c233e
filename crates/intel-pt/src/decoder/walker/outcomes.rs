//! Outcomes of branches: the walk that they lead.

use super::{Arrival, Walker};
use crate::code::CodeSource;
use crate::graph::{End, NewPath};
use crate::item::ErrorKind;
use crate::packet::{Packet, Tnt};
use crate::path::BlockVisit;

/// Outcomes that wait for the TIP packet of an indirect branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decoder) struct Deferred {
    /// The outcomes of the TNT packet that are left.
    pub(in crate::decoder) rest: Tnt,
    /// True if that is all of it: till one of its outcomes was followed, no time is that of the packet.
    pub(in crate::decoder) is_whole: bool,
}

impl Deferred {
    /// True if a packet can be the TIP that an indirect branch waits for, or comes before it.
    pub(in crate::decoder) fn is_answered_by(packet: Packet) -> bool {
        match packet {
            Packet::Tip(ip) => ip.compression().bytes() != 0,
            Packet::Pad => true,
            _ => false,
        }
    }
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decoder) enum Stop {
    /// The outcomes are used up.
    Used,
    /// A TIP packet has to come first.
    Deferred(Deferred),
    /// The path so far is an item of its own, before these outcomes.
    Split(Option<Tnt>),
    /// An emulated PTWRITE begins, before these outcomes.
    Announced(Option<Tnt>),
    /// Something does not fit, at this address.
    Error(ErrorKind, Option<u64>),
}

impl Walker<'_> {
    /// Follows a TNT packet of one byte from `node` on a path that is remembered, and gives its instructions.
    #[inline]
    pub(in crate::decoder) fn follow_cached(&mut self, node: u32, byte: u8) -> Option<u64> {
        let cache = self.graph.tnt_cache();
        let path = cache.follow(node, byte, &mut self.stack)?;
        self.position = Some(path.end);
        let count = u64::from(path.instructions);
        self.path.take_cached(path.place());
        Some(count)
    }

    /// Follows a TNT packet of one byte step by step, and remembers the path.
    pub(in crate::decoder) fn walk_byte(
        &mut self,
        node: u32,
        byte: u8,
        code: &impl CodeSource,
    ) -> Stop {
        self.path.start();
        self.recorder.clear();
        let stop = self.walk(Tnt::from_byte(byte), code);
        if let (Stop::Used, Some(end)) = (stop, self.position) {
            let walked = NewPath {
                end,
                instructions: self.path.count,
                visits: &self.path.visits,
                recorder: &self.recorder,
            };
            self.graph.tnt_cache_mut().add(node, byte, walked);
        }
        stop
    }

    /// Follows outcomes until they are used up.
    pub(in crate::decoder) fn walk(&mut self, tnt: Tnt, code: &impl CodeSource) -> Stop {
        let mut left = tnt.count();
        while left != 0 {
            if self.in_old_code && self.leave_old_code(self.position, code) {
                return Stop::Split(last_of(tnt, left));
            }
            let (node, end) = match self.arrive_or_announce(code) {
                Ok(Arrival::Decision(node, end)) => (node, end),
                Ok(Arrival::Announced) => return Stop::Announced(last_of(tnt, left)),
                Err(stop) => return stop,
            };
            let taken = tnt.bits() >> (left - 1) & 1 == 1;
            match end {
                End::Conditional => {
                    self.branch(node, taken);
                    if taken && self.in_old_code {
                        self.renew_position(code);
                    }
                }
                End::Return if self.return_compression => {
                    if let Err(stop) = self.return_compressed(node, taken, code) {
                        return stop;
                    }
                }
                _ => {
                    self.recorder.poison();
                    let is_whole = left == tnt.count();
                    return last_of(tnt, left).map_or(Stop::Used, |rest| {
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
        let node = self.graph.node(number);
        self.position = Some(if taken { node.taken } else { node.next });
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
            return Err(Stop::Error(ErrorKind::Mismatch, Some(ip)));
        };
        if stale {
            self.recorder.poison();
            let (ip, context) = (self.graph.ip(back), self.context());
            back = self.graph.node_at(ip, context, code);
        }
        self.recorder.pop(back);
        self.in_old_code = false;
        self.position = Some(back);
        Ok(())
    }

    /// Takes the indirect branch or return at the end of a block to `target`, as a path of its own. Gives its
    /// instructions.
    #[inline]
    pub(in crate::decoder) fn take_indirect(
        &mut self,
        number: u32,
        target: u64,
        code: &impl CodeSource,
    ) -> u64 {
        let node = *self.graph.node(number);
        if node.end == End::Return {
            self.stack.pop();
        }
        for &back in self.graph.pushes(&node) {
            self.stack.push(back);
        }
        self.path.start();
        self.path.visits.push(BlockVisit::new(number, true));
        self.go_to(target, code);
        u64::from(node.count)
    }

    /// Runs a block to its indirect branch. With `end` tracing ends there; the target may be unknown.
    pub(in crate::decoder) fn leave(&mut self, number: u32, target: Option<u64>, end: bool) {
        self.visit(number, true);
        if self.graph.node(number).end == End::Return {
            self.stack.pop();
        }
        if end {
            self.path.next = target;
            self.path.end = true;
        }
    }

    /// Runs a block whose last instruction does not fit the trace.
    pub(in crate::decoder) fn refuse_block(&mut self, number: u32) -> Stop {
        self.visit(number, false);
        Stop::Error(ErrorKind::Mismatch, Some(self.last_ip_of(number)))
    }

    /// Tracing ends with the path, which goes to `to`.
    pub(in crate::decoder) fn end_path_at(&mut self, to: u64) {
        self.path.next = Some(to);
        self.path.end = true;
    }

    /// Runs the block where the program is up to a direct jump that leaves the traced addresses, if there is one, and
    /// gives its target. `target` is the one in the packet.
    pub(in crate::decoder) fn leave_by_jump(
        &mut self,
        target: Option<u64>,
        code: &impl CodeSource,
    ) -> Option<u64> {
        let number = self.position?;
        if self.graph.node(number).end == End::Unknown {
            self.graph.build(number, self.context(), code);
        }
        let next_node = self.graph.node(number).next;
        let block = self.graph.block(number);
        let behind = |jump: u16| match block.instructions().get(usize::from(jump) + 1) {
            Some(next) => next.ip,
            None => self.graph.ip(next_node),
        };
        let leaves = |to: u64| Some(to) == target || code.is_filtered_out(to);
        let mut jumps = block.jumps().iter();
        let jump = *jumps.find(|&&jump| leaves(behind(jump)))?;
        let (count, to) = (u32::from(jump) + 1, behind(jump));
        self.path.visits.push(BlockVisit::new(number, true));
        self.path.count += u64::from(count);
        self.path.partial = Some(count);
        Some(to)
    }

    /// Runs a block whose conditional branch leaves the traced addresses, by branching or not, if it does, and gives the
    /// target. `target` is the one in the packet.
    pub(in crate::decoder) fn leave_by_branch(
        &mut self,
        number: u32,
        target: Option<u64>,
        code: &impl CodeSource,
    ) -> Option<u64> {
        let node = self.graph.node(number);
        let [taken, next] = [node.taken, node.next].map(|to| self.graph.ip(to));
        if Some(taken) == target || code.is_filtered_out(taken) {
            self.visit(number, true);
            Some(taken)
        } else if Some(next) == target {
            self.visit(number, false);
            Some(next)
        } else {
            None
        }
    }
}

/// The last outcomes of a packet.
fn last_of(tnt: Tnt, count: u8) -> Option<Tnt> {
    Tnt::long(tnt.bits() & ((1 << count) - 1), count)
}
