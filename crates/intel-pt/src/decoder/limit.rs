//! Where decoding pauses for a time limit.
//!
//! As in perf, what comes at the limit or later is looked at before the decoder pauses: errors are told at once, packets
//! that tell only the time are read, and the first stretch of code up to a branch is still the code of before, whatever
//! is mapped there when decoding goes on.

use super::{Decoder, Phase};
use crate::code::CodeSource;
use crate::graph::{End, Graph};
use crate::packet::Packet;

/// What is held back at a pause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Decoding paused, and goes on now.
    pub(super) over: bool,
    /// The code up to the next branch is that of before the pause.
    pub(super) in_old_code: bool,
}

impl Held {
    /// Whether the code at `node` was looked at before the pause; takes note of it.
    pub(super) fn keeps_code(&mut self, graph: &Graph, node: u32) -> bool {
        let end = graph.nodes[node as usize].end;
        self.in_old_code =
            self.over && !matches!(end, End::Unknown | End::Elsewhere | End::Missing);
        self.in_old_code
    }
}

/// Blocks that are looked at, at most.
const MOST: usize = 64;

impl Decoder<'_> {
    /// Whether decoding pauses before the next packet.
    pub(super) fn is_due(&mut self, code: &impl CodeSource) -> bool {
        if self.stop.is_some_and(|stop| self.input.offset() >= stop) {
            return true;
        }
        let due = self
            .limit
            .is_some_and(|limit| self.clock.time() >= Some(limit));
        self.held.over = due && self.waits(code);
        self.held.over
    }

    /// Whether what the next packet tells can wait.
    #[cold]
    fn waits(&mut self, code: &impl CodeSource) -> bool {
        if !self.input.is_whole() {
            return true;
        }
        let Some(Ok(packet)) = self.input.ahead().next() else {
            return false;
        };
        if self.deferred.is_some() {
            return self.answers_deferred(packet);
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
            Packet::Cbr(payload) => payload as u8 != self.told_cbr,
            _ if self.phase == Phase::FindPsb => false,
            Packet::Tip(_) | Packet::TipPge(_) | Packet::TipPgd(_) | Packet::Fup(_)
                if self.phase == Phase::FindIp =>
            {
                true
            }
            _ if self.phase == Phase::FindIp => false,
            Packet::Tnt(_) if self.is_quick() || self.overflowed => false,
            _ if self.is_quick() => true,
            Packet::Tnt(_) | Packet::Tip(_) if self.leaving.is_none() && self.psb.is_none() => {
                self.arrives_at_branch(packet, code)
            }
            _ => true,
        }
    }

    /// Whether the next packet leads to a branch rather than to an error; the code up to there is decoded.
    fn arrives_at_branch(&mut self, packet: Packet, code: &impl CodeSource) -> bool {
        let (mut bits, mut left) = match packet {
            Packet::Tnt(tnt) => (tnt.bits(), tnt.count()),
            _ => (0, 0),
        };
        let mut number = match self.node {
            Some(number) => number,
            None if self.lost_ip == 0 => return false,
            None => self.graph.node_at(self.lost_ip, self.context, code),
        };
        self.node = Some(number);
        for _ in 0..MOST {
            if self.graph.nodes[number as usize].end == End::Unknown {
                self.graph.build(number, self.context, code);
            }
            let node = self.graph.nodes[number as usize];
            if !self.graph.block(number).jumps().is_empty() {
                return true;
            }
            match (node.end, packet) {
                (End::Elsewhere, _) => {
                    let found = self.graph.node_at(node.ip, self.context, code);
                    if found == number {
                        return false;
                    }
                    number = found;
                }
                (End::Continued | End::Announced, _) => number = node.next,
                (End::Conditional, Packet::Tnt(_)) if left != 0 => {
                    left -= 1;
                    if bits >> left & 1 == 1 {
                        return true;
                    }
                    bits &= (1 << left) - 1;
                    number = node.next;
                }
                (End::Return | End::Indirect, Packet::Tip(_)) => {
                    return self.answers_deferred(packet);
                }
                (End::Return, _) if self.config.return_compression => {
                    return left != 0 && bits >> (left - 1) & 1 == 1 && !self.stack.is_empty();
                }
                (End::Return | End::Indirect, _) => return self.has_deferred_tip(),
                (End::Unknown | End::Missing | End::Endless | End::Conditional, _) => return false,
            }
        }
        true
    }

    /// Whether the TIP packet that an indirect branch waits for comes behind the next packet.
    fn has_deferred_tip(&self) -> bool {
        let behind = self
            .input
            .ahead()
            .skip(1)
            .find(|packet| !matches!(packet, Ok(Packet::Pad)));
        behind.is_none_or(|packet| packet.is_ok_and(|packet| self.answers_deferred(packet)))
    }

    /// Runs the old code up to its first branch, if that is a direct one; says whether it was. The run ends there.
    #[cold]
    pub(super) fn leave_old_code(&mut self, code: &impl CodeSource) -> bool {
        let Some(number) = self.node.filter(|_| self.phase == Phase::Follow) else {
            self.held.in_old_code = false;
            return false;
        };
        let block = self.graph.block(number);
        let Some(&jump) = block.jumps().first() else {
            return false;
        };
        let behind = block
            .instructions()
            .get(usize::from(jump) + 1)
            .map(|next| next.ip);
        let target =
            behind.unwrap_or(self.graph.nodes[self.graph.nodes[number as usize].next as usize].ip);
        match behind {
            Some(_) => self.visit_part(number, u32::from(jump) + 1),
            None => self.visit(number, false),
        }
        self.run.next = Some(target);
        self.node = Some(self.graph.node_at(target, self.context, code));
        self.held.in_old_code = false;
        self.queue_walk();
        true
    }

    /// Looks the place where the program is up again.
    pub(super) fn renew_node(&mut self, code: &impl CodeSource) {
        self.held.in_old_code = false;
        if let Some(node) = self.node {
            let ip = self.graph.nodes[node as usize].ip;
            self.node = Some(self.graph.node_at(ip, self.context, code));
        }
    }
}
