//! The walk over code: from block to block, as far as the outcomes of branches go.

mod ahead;
mod outcomes;
mod path;

use super::timed_packets::TimedPackets;
use crate::code::CodeSource;
use crate::config::Config;
use crate::graph::{CodeContext, End, Graph, Node, PathRecorder};
use crate::insn::Class;
use crate::item::ErrorKind;
use crate::path::{BasicBlock, BlockVisit, Located};
use crate::state::ReturnStack;
pub(super) use outcomes::{Deferred, Stop};
use path::WalkedPath;

/// Long blocks with jumps that may follow each other without a decision before it is called an endless loop.
const CONTINUED: u32 = 64;
/// Emulated PTWRITEs that one packet may reach before it is called an endless loop: each has 64 outcomes of its own, more
/// than a packet holds.
const ANNOUNCED: u32 = 4;

/// The next place on the way that needs more than code.
enum Arrival {
    /// A block that is decoded, and ends with a decision.
    Decision(u32, End),
    /// Behind the announcement of an emulated PTWRITE.
    Announced,
}

/// Follows code through the graph of blocks.
#[derive(Debug)]
pub(super) struct Walker<'t> {
    trace: TimedPackets<'t>,
    graph: Graph,
    /// Counts how often the graph was forgotten.
    epoch: u64,
    /// The code that is to run next, if it is known.
    position: Option<u32>,
    /// The address of the program when tracing ended or the trace stopped making sense, if it is of use.
    last_known_ip: Option<u64>,
    stack: ReturnStack,
    recorder: PathRecorder,
    path: WalkedPath,
    /// Emulated PTWRITEs that were reached with the packet at hand.
    announced: u32,
    /// The code up to the next branch is that of before a pause.
    in_old_code: bool,
    return_compression: bool,
}

impl<'t> Walker<'t> {
    pub(super) fn new(config: &Config) -> Walker<'t> {
        Walker {
            trace: TimedPackets::new(config),
            graph: Graph::new(),
            epoch: 0,
            position: None,
            last_known_ip: None,
            stack: ReturnStack::default(),
            recorder: PathRecorder::default(),
            path: WalkedPath::default(),
            announced: 0,
            in_old_code: false,
            return_compression: config.return_compression,
        }
    }

    #[inline]
    pub(super) fn trace(&self) -> &TimedPackets<'t> {
        &self.trace
    }

    #[inline]
    pub(super) fn trace_mut(&mut self) -> &mut TimedPackets<'t> {
        &mut self.trace
    }

    #[inline]
    fn context(&self) -> CodeContext {
        self.trace.processor().context()
    }

    /// The code that is to run next, if it is known.
    #[inline]
    pub(super) fn position(&self) -> Option<u32> {
        self.position
    }

    /// The address of the code that is to run next, if it is known.
    #[inline]
    pub(super) fn position_ip(&self) -> Option<u64> {
        self.position.map(|node| self.graph.ip(node))
    }

    /// The address of the program now, or when it was lost; `None` while that is unknown.
    #[inline]
    pub(super) fn ip(&self) -> Option<u64> {
        self.position_ip().or(self.last_known_ip)
    }

    /// The address of the program when tracing ended or the trace stopped making sense.
    pub(super) fn last_known_ip(&self) -> Option<u64> {
        self.last_known_ip
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    #[inline]
    pub(super) fn block(&self, node: u32) -> BasicBlock<'_> {
        self.graph.block(node)
    }

    #[inline]
    pub(super) fn node(&self, node: u32) -> &Node {
        self.graph.node(node)
    }

    /// The address at which a block begins; `None` for a number that names none.
    #[inline]
    pub(super) fn address(&self, node: u32) -> Option<u64> {
        self.graph.address(node)
    }

    /// True while the code of before a pause is walked.
    #[inline]
    pub(super) fn is_in_old_code(&self) -> bool {
        self.in_old_code
    }

    /// True if no return address is known.
    pub(super) fn has_empty_stack(&self) -> bool {
        self.stack.is_empty()
    }

    pub(super) fn clear_stack(&mut self) {
        self.stack.clear();
    }

    /// The next packet is read.
    #[inline]
    pub(super) fn begin_packet(&mut self) {
        self.announced = 0;
    }

    /// The program is at `ip`.
    #[inline]
    pub(super) fn go_to(&mut self, ip: u64, code: &impl CodeSource) {
        self.position = Some(
            self.graph
                .node_at(ip, self.trace.processor().context(), code),
        );
    }

    /// The program is at `ip`, behind a branch: the code there is that of now.
    pub(super) fn go_to_new_code(&mut self, ip: u64, code: &impl CodeSource) {
        self.in_old_code = false;
        self.go_to(ip, code);
    }

    /// The program is at `ip`, in the context that holds from the next address on.
    pub(super) fn go_to_next_context(&mut self, ip: u64, code: &impl CodeSource) {
        let context = self.trace.processor().next_context();
        self.position = Some(self.graph.node_at(ip, context, code));
    }

    /// The program is where it was before.
    pub(super) fn return_to(&mut self, position: Option<u32>) {
        self.position = position;
    }

    /// The program is somewhere unknown; it was at `last_known_ip`. As in perf, no code is looked for at address 0.
    pub(super) fn lose_position(&mut self, last_known_ip: Option<u64>) {
        self.position = None;
        self.last_known_ip = last_known_ip.filter(|&ip| ip != 0);
    }

    /// The address of before is of no use any more.
    pub(super) fn forget_last_known_ip(&mut self) {
        self.last_known_ip = None;
    }

    /// Takes note when addresses mean other code than before. `paused` if decoding goes on behind a pause.
    #[inline]
    pub(super) fn follow_code(&mut self, code: &impl CodeSource, paused: bool) {
        if self.graph.follow_generation(code.generation()) {
            self.renew_code(code, paused);
        }
    }

    #[cold]
    fn renew_code(&mut self, code: &impl CodeSource, paused: bool) {
        self.stack.outdate();
        let end = self.position.map(|node| self.graph.node(node).end);
        let was_decoded =
            end.is_some_and(|end| !matches!(end, End::Unknown | End::Elsewhere | End::Missing));
        self.in_old_code = paused && was_decoded;
        if !self.in_old_code {
            self.renew_position(code);
        }
    }

    /// Looks the place where the program is up again.
    pub(super) fn renew_position(&mut self, code: &impl CodeSource) {
        self.in_old_code = false;
        if let Some(ip) = self.position_ip() {
            self.go_to(ip, code);
        }
    }

    /// True if so much code is known that it should be forgotten.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.graph.is_full()
    }

    /// Begins with an empty graph.
    #[cold]
    pub(super) fn forget_code(&mut self, code: &impl CodeSource) {
        let old = std::mem::replace(&mut self.graph, Graph::new());
        self.graph.follow_generation(code.generation());
        self.epoch += 1;
        let (graph, context) = (&mut self.graph, self.trace.processor().context());
        let mut renew = |node: u32| graph.node_at(old.ip(node), context, code);
        self.position = self.position.map(&mut renew);
        self.stack.replace(renew);
        self.stack.outdate();
    }

    /// Goes to a block that is decoded and ends with a decision, from which nothing ran yet.
    pub(super) fn arrive(&mut self, code: &impl CodeSource) -> Result<(u32, End), Stop> {
        loop {
            if let Arrival::Decision(number, end) = self.arrive_or_announce(code)? {
                return Ok((number, end));
            }
        }
    }

    /// Goes to such a block, or to an announcement of an emulated PTWRITE before it.
    fn arrive_or_announce(&mut self, code: &impl CodeSource) -> Result<Arrival, Stop> {
        let context = self.context();
        let mut number = match (self.position, self.last_known_ip) {
            (Some(number), _) => number,
            // Tracing ended there, but the trace goes on.
            (None, Some(ip)) => self.graph.node_at(ip, context, code),
            (None, None) => return Err(Stop::Error(ErrorKind::MissingCode, None)),
        };
        let mut continued = 0;
        loop {
            let node = *self.graph.node(number);
            match node.end {
                End::Unknown => self.graph.build(number, context, code),
                End::Elsewhere => {
                    let found = self.graph.node_at(node.ip, context, code);
                    if found == number {
                        return Err(Stop::Error(ErrorKind::MissingCode, Some(node.ip)));
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
                    self.position = Some(node.next);
                    return Ok(Arrival::Announced);
                }
                End::Continued | End::Announced | End::Endless => {
                    self.visit(number, false);
                    let next = self.graph.ip(node.next);
                    return Err(Stop::Error(ErrorKind::EndlessLoop, Some(next)));
                }
                End::Missing => {
                    self.visit(number, false);
                    let next = self.graph.ip(node.next);
                    return Err(Stop::Error(ErrorKind::MissingCode, Some(next)));
                }
                end => {
                    self.position = Some(number);
                    return Ok(Arrival::Decision(number, end));
                }
            }
            self.position = Some(number);
        }
    }

    /// A path begins here.
    #[inline]
    pub(super) fn start_path(&mut self) {
        self.path.start();
    }

    /// All of a block ran.
    #[inline]
    pub(super) fn visit(&mut self, number: u32, taken: bool) {
        let node = *self.graph.node(number);
        self.path.visits.push(BlockVisit::new(number, taken));
        self.path.count += u64::from(node.count);
        for &back in self.graph.pushes(&node) {
            self.stack.push(back);
            self.recorder.push(back);
        }
    }

    /// The first `count` instructions of a block ran.
    pub(super) fn visit_part(&mut self, number: u32, count: u32) {
        let node = *self.graph.node(number);
        self.path.visits.push(BlockVisit::new(number, false));
        self.path.count += u64::from(count);
        self.path.partial = Some(count);
        let ran = &self.graph.block(number).instructions()[..=count as usize];
        let is_push =
            |pair: &[Located]| pair[0].class == Class::Call && pair[1].ip != pair[0].behind();
        let calls = ran.windows(2).filter(|pair| is_push(pair)).count();
        for &back in self.graph.pushes(&node).iter().take(calls) {
            self.stack.push(back);
        }
    }

    /// The address of a block's last instruction.
    pub(super) fn last_ip_of(&self, number: u32) -> u64 {
        let block = self.graph.block(number);
        block
            .instructions()
            .last()
            .map_or(self.graph.ip(number), |last| last.ip)
    }

    /// The address of the path's last instruction.
    pub(super) fn last_ip_of_path(&self) -> Option<u64> {
        let visit = self.path.visits.last()?;
        Some(self.last_ip_of(visit.block().0))
    }

    /// The last instruction of the block that was walked to last.
    pub(super) fn last_of_walk(&self) -> Option<Located> {
        let visit = self.path.visits.last()?;
        let block = self.graph.block(visit.block().0);
        block.instructions().last().copied()
    }

    /// Walks from the position of the program to `ip`, without any decision.
    pub(super) fn walk_to(&mut self, ip: u64, code: &impl CodeSource) -> Result<(), Stop> {
        self.path.start();
        let context = self.context();
        let mut continued = 0;
        loop {
            let Some(number) = self.position else {
                return Err(Stop::Error(ErrorKind::MissingCode, None));
            };
            let node = *self.graph.node(number);
            if node.ip == ip {
                return Ok(());
            }
            if node.end == End::Unknown {
                self.graph.build(number, context, code);
                continue;
            }
            if node.end == End::Elsewhere {
                let found = self.graph.node_at(node.ip, context, code);
                if found == number {
                    return Err(Stop::Error(ErrorKind::MissingCode, Some(node.ip)));
                }
                self.position = Some(found);
                continue;
            }
            let block = self.graph.block(number);
            let mut instructions = block.instructions().iter();
            if let Some(count) = instructions.position(|instruction| instruction.ip == ip) {
                self.visit_part(number, count as u32);
                self.go_to(ip, code);
                return Ok(());
            }
            let next = self.graph.ip(node.next);
            self.visit(number, false);
            match node.end {
                End::Continued | End::Announced if continued < CONTINUED => {
                    continued += u32::from(!self.graph.block(number).jumps().is_empty());
                }
                End::Continued | End::Announced | End::Endless => {
                    return Err(Stop::Error(ErrorKind::EndlessLoop, Some(next)));
                }
                End::Missing if next == ip => {}
                End::Missing => return Err(Stop::Error(ErrorKind::MissingCode, Some(next))),
                _ => {
                    let last = self.last_ip_of(number);
                    return Err(Stop::Error(ErrorKind::Mismatch, Some(last)));
                }
            }
            self.position = Some(node.next);
        }
    }

    /// Runs the old code up to its first branch, if that is a direct one; true if it was. The path ends there.
    #[cold]
    pub(super) fn leave_old_code(&mut self, number: Option<u32>, code: &impl CodeSource) -> bool {
        let Some(number) = number else {
            self.in_old_code = false;
            return false;
        };
        let block = self.graph.block(number);
        let Some(&jump) = block.jumps().first() else {
            return false;
        };
        let behind = block.instructions().get(usize::from(jump) + 1);
        let behind = behind.map(|next| next.ip);
        let target = behind.unwrap_or(self.graph.ip(self.graph.node(number).next));
        if behind.is_some() {
            self.visit_part(number, u32::from(jump) + 1);
        } else {
            self.visit(number, false);
        }
        self.path.next = Some(target);
        self.go_to(target, code);
        self.in_old_code = false;
        true
    }
}
