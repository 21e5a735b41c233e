//! A look at the code behind a packet that may have to wait.

use super::{Deferred, Walker};
use crate::code::CodeSource;
use crate::graph::End;
use crate::packet::Packet;

/// Blocks that are looked at, at most.
const MAX_BLOCKS: usize = 64;

impl Walker<'_> {
    /// True if the next packet leads to a branch rather than to an error; the code up to there is decoded.
    pub(in crate::decoder) fn arrives_at_branch(
        &mut self,
        packet: Packet,
        code: &impl CodeSource,
    ) -> bool {
        let (mut bits, mut left) = match packet {
            Packet::Tnt(tnt) => (tnt.bits(), tnt.count()),
            _ => (0, 0),
        };
        let context = self.context();
        let mut number = match (self.position, self.last_known_ip) {
            (Some(number), _) => number,
            (None, Some(ip)) => self.graph.node_at(ip, context, code),
            (None, None) => return false,
        };
        self.position = Some(number);
        for _ in 0..MAX_BLOCKS {
            if self.graph.node(number).end == End::Unknown {
                self.graph.build(number, context, code);
            }
            let node = *self.graph.node(number);
            if !self.graph.block(number).jumps().is_empty() {
                return true;
            }
            match (node.end, packet) {
                (End::Elsewhere, _) => {
                    let found = self.graph.node_at(node.ip, context, code);
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
                    return Deferred::is_answered_by(packet);
                }
                (End::Return, _) if self.return_compression => {
                    return left != 0 && bits >> (left - 1) & 1 == 1 && !self.stack.is_empty();
                }
                (End::Return | End::Indirect, _) => return self.has_deferred_tip(),
                (End::Unknown | End::Missing | End::Endless | End::Conditional, _) => return false,
            }
        }
        true
    }

    /// True if the TIP packet that an indirect branch waits for comes behind the next packet.
    fn has_deferred_tip(&self) -> bool {
        let mut behind = self.trace.ahead().skip(1);
        let behind = behind.find(|packet| !matches!(packet, Ok(Packet::Pad)));
        behind.is_none_or(|packet| packet.is_ok_and(Deferred::is_answered_by))
    }
}
