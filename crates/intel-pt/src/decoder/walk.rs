//! Walking over code, block by block.

use super::Decoder;
use crate::code::CodeSource;
use crate::graph::End;
use crate::insn::Class;
use crate::item::ErrorKind;
use crate::packet::Tnt;
use crate::path::{BlockVisit, Located};

/// Outcomes that wait for the TIP packet of an indirect branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred {
    /// What is left of the TNT packet.
    pub(super) rest: Tnt,
    /// Whether that is all of it: till one of its outcomes was followed, no time is that of the packet.
    pub(super) is_whole: bool,
}

/// Why a walk stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The outcomes are used up.
    Used,
    /// A TIP packet has to come first.
    Deferred(Deferred),
    /// What ran has to be told first: some outcomes are left.
    Told,
    /// An emulated PTWRITE begins: some outcomes are left.
    Announced,
    /// Something does not fit.
    Error(ErrorKind, u64),
}

/// Long blocks with jumps that may follow each other without a decision before it is called an endless loop.
const CONTINUED: u32 = 64;
/// Emulated PTWRITEs that one packet may reach before it is called an endless loop: each has 64 outcomes of its own, more
/// than a packet holds.
const ANNOUNCED: u32 = 4;

impl Decoder<'_> {
    /// Goes on to a block that is decoded and ends with a decision, from which nothing ran yet.
    pub(super) fn arrive(&mut self, code: &impl CodeSource) -> Result<(u32, End), Stop> {
        loop {
            match self.arrive_or_stop(code) {
                Err(Stop::Announced) => {}
                other => return other,
            }
        }
    }

    /// The same, but stops where an emulated PTWRITE is announced.
    pub(super) fn arrive_or_stop(&mut self, code: &impl CodeSource) -> Result<(u32, End), Stop> {
        let mut number = match self.node {
            Some(number) => number,
            None if self.lost_ip == 0 => return Err(Stop::Error(ErrorKind::MissingCode, 0)),
            // Tracing ended there, but the trace goes on.
            None => self.graph.node_at(self.lost_ip, self.context, code),
        };
        let mut continued = 0;
        loop {
            let node = self.graph.nodes[number as usize];
            match node.end {
                End::Unknown => self.graph.build(number, self.context, code),
                End::Elsewhere => {
                    let found = self.graph.node_at(node.ip, self.context, code);
                    if found == number {
                        return Err(Stop::Error(ErrorKind::MissingCode, node.ip));
                    }
                    self.recorder.poison();
                    number = found;
                }
                End::Continued if continued < CONTINUED => {
                    continued += u32::from(!self.graph.block(number).jumps().is_empty());
                    self.visit(number, false);
                    number = node.next;
                }
                End::Announced if self.announced < ANNOUNCED => {
                    self.announced += 1;
                    self.visit(number, false);
                    self.recorder.poison();
                    self.node = Some(node.next);
                    return Err(Stop::Announced);
                }
                End::Continued | End::Announced | End::Endless => {
                    self.visit(number, false);
                    return Err(Stop::Error(
                        ErrorKind::EndlessLoop,
                        self.graph.nodes[node.next as usize].ip,
                    ));
                }
                End::Missing => {
                    self.visit(number, false);
                    return Err(Stop::Error(
                        ErrorKind::MissingCode,
                        self.graph.nodes[node.next as usize].ip,
                    ));
                }
                end => {
                    self.node = Some(number);
                    return Ok((number, end));
                }
            }
            self.node = Some(number);
        }
    }

    /// All of a block ran.
    #[inline]
    pub(super) fn visit(&mut self, number: u32, taken: bool) {
        let node = self.graph.nodes[number as usize];
        self.run.visits.push(BlockVisit::new(number, taken));
        self.run.count += u64::from(node.count);
        for &back in self.graph.pushes(&node) {
            self.stack.push(back);
            self.recorder.push(back);
        }
    }

    /// The address of a block's last instruction.
    pub(super) fn last_ip_of(&self, number: u32) -> u64 {
        let block = self.graph.block(number);
        block
            .instructions()
            .last()
            .map_or(self.graph.nodes[number as usize].ip, |last| last.ip)
    }

    /// Walks from where the program is to `ip`, without any decision.
    pub(super) fn walk_to(&mut self, ip: u64, code: &impl CodeSource) -> Result<(), Stop> {
        self.run.start();
        let mut continued = 0;
        loop {
            let Some(number) = self.node else {
                return Err(Stop::Error(ErrorKind::MissingCode, 0));
            };
            let node = self.graph.nodes[number as usize];
            if node.ip == ip {
                return Ok(());
            }
            if node.end == End::Unknown {
                self.graph.build(number, self.context, code);
                continue;
            }
            if node.end == End::Elsewhere {
                let found = self.graph.node_at(node.ip, self.context, code);
                if found == number {
                    return Err(Stop::Error(ErrorKind::MissingCode, node.ip));
                }
                self.node = Some(found);
                continue;
            }
            let block = self.graph.block(number);
            if let Some(count) = block
                .instructions()
                .iter()
                .position(|instruction| instruction.ip == ip)
            {
                self.visit_part(number, count as u32);
                self.node = Some(self.graph.node_at(ip, self.context, code));
                return Ok(());
            }
            let next = self.graph.nodes[node.next as usize].ip;
            self.visit(number, false);
            match node.end {
                End::Continued | End::Announced if continued < CONTINUED => {
                    continued += u32::from(!self.graph.block(number).jumps().is_empty());
                }
                End::Continued | End::Announced | End::Endless => {
                    return Err(Stop::Error(ErrorKind::EndlessLoop, next));
                }
                End::Missing if next == ip => {}
                End::Missing => return Err(Stop::Error(ErrorKind::MissingCode, next)),
                _ => return Err(Stop::Error(ErrorKind::Mismatch, self.last_ip_of(number))),
            }
            self.node = Some(node.next);
        }
    }

    /// The first `count` instructions of a block ran.
    pub(super) fn visit_part(&mut self, number: u32, count: u32) {
        let node = self.graph.nodes[number as usize];
        self.run.visits.push(BlockVisit::new(number, false));
        self.run.count += u64::from(count);
        self.run.partial = Some(count);
        let ran = &self.graph.block(number).instructions()[..=count as usize];
        let is_push =
            |pair: &[Located]| pair[0].class == Class::Call && pair[1].ip != pair[0].behind();
        let calls = ran.windows(2).filter(|pair| is_push(pair)).count();
        for &back in self.graph.pushes(&node).iter().take(calls) {
            self.stack.push(back);
        }
    }
}
