//! Decoding a block.

use std::collections::HashSet;

use super::{CodeContext, End, Graph};
use crate::code::{Code, CodeAddress, CodeSource};
use crate::insn::{Class, Flow, Instruction, announces_emulated_ptwrite, classify};
use crate::packet::ExecMode;
use crate::path::Located;

/// Instructions of a block at most; longer ones go on in another.
const LONGEST: usize = 2048;

impl Graph {
    /// Decodes the block of a node.
    #[cold]
    pub(crate) fn build(&mut self, node: u32, context: CodeContext, source: &impl CodeSource) {
        let ip = self.nodes[node as usize].ip;
        let first = self.instructions.len();
        let jumps = self.jumps.len() as u32;
        let pushes = self.pushes.len() as u32;
        let mut walk = Walk {
            context,
            source,
            code: None,
            met: HashSet::from([ip]),
        };
        let last = self.walk_block(ip, &mut walk);
        let taken = last
            .taken
            .map_or(0, |target| self.link(target, node, context, source));
        let next = last
            .next
            .map_or(0, |next| self.link(next, node, context, source));
        let back = std::mem::take(&mut self.unlinked);
        for &ip in &back {
            let back = self.link(ip, node, context, source);
            self.pushes.push(back);
        }
        self.unlinked = back;
        self.unlinked.clear();
        if last.end == End::Missing {
            self.missing.push(node);
        }
        let node = &mut self.nodes[node as usize];
        node.end = last.end;
        node.class = self.instructions[first..]
            .last()
            .map_or(Class::Other, |instruction| instruction.class);
        node.count = (self.instructions.len() - first) as u32;
        node.taken = taken;
        node.next = next;
        node.first = first as u32;
        node.jumps = (jumps, self.jumps.len() as u32);
        node.pushes = (pushes, self.pushes.len() as u32);
    }

    /// Adds the instructions from `ip` on, the indices of direct branches among them and, to `unlinked`, the return
    /// addresses.
    fn walk_block(&mut self, mut ip: u64, walk: &mut Walk<'_, impl CodeSource>) -> Last {
        let first = self.instructions.len();
        loop {
            let count = self.instructions.len() - first;
            if count == LONGEST || (count != 0 && !walk.holds(ip)) {
                return Last {
                    end: End::Continued,
                    next: Some(ip),
                    taken: None,
                };
            }
            let Some(instruction) = walk.decode(ip) else {
                return Last {
                    end: End::Missing,
                    next: Some(ip),
                    taken: None,
                };
            };
            let Instruction {
                length,
                class,
                relative,
            } = instruction;
            self.instructions.push(Located { ip, length, class });
            let behind = ip.wrapping_add(u64::from(length));
            let target = walk.target(behind, relative);
            if class.is_call() && (class != Class::Call || target != behind) {
                self.unlinked.push(behind);
            }
            match class.flow() {
                Flow::Next => ip = behind,
                Flow::Direct => {
                    self.jumps.push(count as u16);
                    if walk.announces(instruction, behind) {
                        return Last {
                            end: End::Announced,
                            next: Some(target),
                            taken: None,
                        };
                    }
                    if !walk.met.insert(target) {
                        return Last {
                            end: End::Endless,
                            next: Some(target),
                            taken: None,
                        };
                    }
                    ip = target;
                }
                Flow::Conditional => {
                    return Last {
                        end: End::Conditional,
                        next: Some(behind),
                        taken: Some(target),
                    };
                }
                Flow::Indirect => {
                    let end = if class == Class::Return {
                        End::Return
                    } else {
                        End::Indirect
                    };
                    return Last {
                        end,
                        next: None,
                        taken: None,
                    };
                }
            }
        }
    }

    /// The node for `ip` as seen from `from`: in another section it has to be looked up each time.
    fn link(&mut self, ip: u64, from: u32, context: CodeContext, source: &impl CodeSource) -> u32 {
        let here = self.nodes[from as usize].ip;
        let own = self.place(here, context, source).map(|place| place.section);
        match self.place(ip, context, source) {
            Some(place) if Some(place.section) == own => {
                self.sections
                    .node(place.section, place.index, ip, &mut self.nodes)
            }
            _ => self.node_elsewhere(ip),
        }
    }
}

/// The end of a block.
struct Last {
    end: End,
    next: Option<u64>,
    taken: Option<u64>,
}

/// Reads instructions one after the other.
struct Walk<'a, S> {
    context: CodeContext,
    source: &'a S,
    /// The mapping of the first instruction.
    code: Option<Code<'a>>,
    /// Targets of direct branches so far: coming by a second time means that the code runs in a circle.
    met: HashSet<u64>,
}

impl<S: CodeSource> Walk<'_, S> {
    /// True if the mapping of the first instruction holds `ip`.
    fn holds(&self, ip: u64) -> bool {
        self.code.is_some_and(|code| !code.from(ip).is_empty())
    }

    fn announces(&self, instruction: Instruction, behind: u64) -> bool {
        self.code
            .is_some_and(|code| announces_emulated_ptwrite(instruction, code.from(behind)))
    }

    fn decode(&mut self, ip: u64) -> Option<Instruction> {
        if self.code.is_none() {
            self.code = self.source.code(CodeAddress {
                ip,
                guest: self.context.guest,
            });
        }
        classify(self.code?.from(ip), self.context.mode)
    }

    /// The target of a direct branch. Addresses of 32-bit code wrap around.
    fn target(&self, behind: u64, relative: i32) -> u64 {
        let target = behind.wrapping_add(i64::from(relative).cast_unsigned());
        match self.context.mode {
            ExecMode::Bits64 => target,
            _ => target & 0xffff_ffff,
        }
    }
}
