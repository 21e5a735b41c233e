//! Transfers of control by an instruction that come with something else, such as a new interrupt flag: what ran before is
//! told first, then what comes with the transfer, then the instruction. And those into code of another mode or guest.

use super::Decoder;
use crate::code::CodeSource;
use crate::event::{Transfer, TransferCause};
use crate::graph::End;

/// The last instruction of a walk that is not told yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    ip: u64,
    target: Option<u64>,
    end: bool,
}

impl Split {
    /// The instruction at `ip` ends tracing.
    pub(super) fn end_at(ip: u64, target: Option<u64>) -> Split {
        Split {
            ip,
            target,
            end: true,
        }
    }
}

impl Decoder<'_> {
    /// Tells what ran of a block before its last instruction, and what comes with that one.
    pub(super) fn split(
        &mut self,
        number: u32,
        target: Option<u64>,
        end: bool,
        code: &impl CodeSource,
    ) {
        let node = self.graph.nodes[number as usize];
        let Some(last) = self.graph.block(number).instructions().last().copied() else {
            return;
        };
        if node.count > 1 {
            self.visit_part(number, node.count - 1);
        }
        self.queue_walk();
        self.begin_transfer(
            last.ip,
            Transfer {
                by: TransferCause::Instruction(last.class),
                to: target,
                end,
            },
        );
        let split = Split {
            ip: last.ip,
            target,
            end,
        };
        if self.queue.is_empty() {
            return self.follow_split(split, code);
        }
        self.split = Some(split);
    }

    /// Goes on where code is read another way, or is another's: the run ends there.
    pub(super) fn enter_context(&mut self, target: u64, code: &impl CodeSource) {
        self.mode.guest_toggled = self.next_context.guest != self.context.guest;
        self.run.next = Some(target);
        self.queue_walk();
        self.switch_context();
        self.node = Some(self.graph.node_at(target, self.context, code));
        self.resumed = self.deferred.take().map(|deferred| deferred.rest);
    }

    /// Goes on with the instruction that was left over, once all before it has been taken.
    pub(super) fn follow_split(&mut self, split: Split, code: &impl CodeSource) {
        let Split { ip, target, end } = split;
        self.node = Some(self.graph.node_at(ip, self.context, code));
        self.run.start();
        let stop = match self.arrive(code) {
            Ok((number, found)) => self.leave(number, target, end, found == End::Return),
            Err(stop) => stop,
        };
        self.go_on_behind_tip(stop, target, end, code);
        self.end_transfer();
    }
}
