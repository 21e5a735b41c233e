//! The decoder: trace bytes and code in, items out.

mod access;
mod asynchronous;
mod checkpoint;
mod emulated;
mod events;
mod flow;
mod input;
mod limit;
mod loss;
mod notes;
mod path_state;
mod psb_scanner;
mod quick;
mod sync;
mod tell;
mod timing;
mod transfer;
mod walk;

use std::collections::VecDeque;

use crate::code::CodeSource;
use crate::config::{Config, EmitOptions};
use crate::event::BlockValue;
use crate::graph::{CodeContext, Graph, PathRecorder};
use crate::item::{Cycles, Item, Mode, Tsc};
use crate::note::Note;
use crate::packet::{EventData, ExecMode, Packet, Tnt};
use crate::state::{Bound, ReturnStack};
use crate::time::{Clock, Samplers};
pub use checkpoint::Checkpoint;
use input::Input;
pub use input::TraceChunk;
use limit::Held;
use notes::Notes;
use path_state::PathState;
pub use psb_scanner::PsbScanner;
use sync::PsbPlus;
use tell::Stamp;
use transfer::Split;
use walk::Deferred;

/// What the decoder is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Look for a PSB.
    FindPsb,
    /// Look for an address.
    FindIp,
    /// Follow the trace.
    Follow,
}

/// Follows the flow of control through a trace.
///
/// It is fed with [`TraceChunk`]es of one processor's (or thread's) trace and asked for one [`Item`] after the other:
///
/// ```
/// use intel_pt::{Config, Decoder, FlatCode, Item, TraceChunk, EmitOptions};
/// // nop; jnz -3; and a trace in which the branch is taken once.
/// let mut code = FlatCode::new(0x1000, vec![0x90, 0x75, 0xfd]);
/// let psb = [0x02, 0x82].repeat(8);
/// let trace = [&psb[..], &[0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0, 0x06]].concat();
/// let mut decoder = Decoder::new(Config::default(), EmitOptions { paths: true, ..EmitOptions::default() });
/// decoder.push(TraceChunk { bytes: &trace, offset: 0, consecutive: false, reference: None });
/// assert_eq!(decoder.next(&mut code), Item::Begin { to: 0x1000, enabled: true, end: false });
/// assert_eq!(decoder.next(&mut code), Item::Path);
/// let branches: Vec<_> = decoder.branches().map(|branch| (branch.from.ip, branch.to)).collect();
/// assert_eq!(branches, [(0x1001, Some(0x1000))]);
/// assert_eq!(decoder.next(&mut code), Item::End);
/// ```
#[derive(Debug)]
pub struct Decoder<'t> {
    config: Config,
    wanted: EmitOptions,
    input: Input<'t>,
    phase: Phase,
    /// Tracing is on (TIP.PGE, TIP.PGD).
    enabled: bool,
    /// Where the program is: code that is to run next, if it is known.
    node: Option<u32>,
    /// Where it was when tracing ended or the trace stopped making sense; 0 if that is of no use.
    lost_ip: u64,
    context: CodeContext,
    /// What holds from the next address on.
    next_context: CodeContext,
    mode: Mode,
    /// Whether interrupts are enabled from the next address on.
    interrupts: bool,
    graph: Graph,
    epoch: u64,
    stack: ReturnStack,
    recorder: PathRecorder,
    last_ip: Option<u64>,
    /// Outcomes that wait for a deferred TIP packet.
    deferred: Option<Deferred>,
    /// An asynchronous event left from here; where to, the next packet tells.
    leaving: Option<u64>,
    /// It was the abort of a transaction.
    aborting: bool,
    psb: Option<PsbPlus>,
    split: Option<Split>,
    /// Outcomes that are followed once what was told before them has been taken.
    resumed: Option<Tnt>,
    /// Emulated PTWRITEs that were reached with the packet at hand.
    announced: u32,
    /// Packets were dropped, and no address came since.
    overflowed: bool,
    bound: Bound,
    waiting_data: Vec<EventData>,
    event_data: Vec<EventData>,
    waiting_items: Vec<BlockValue>,
    block_kind: u8,
    items: Vec<BlockValue>,
    told_cbr: u8,
    clock: Clock,
    samplers: Samplers,
    /// A sample was near before the time was told, after decoding was resumed.
    hurried: bool,
    limit: Option<Tsc>,
    /// Where in the trace to stop.
    stop: Option<u64>,
    held: Held,
    /// The time of the last deciding packet.
    decided: Option<Tsc>,
    instructions: u64,
    cycles: Cycles,
    run: PathState,
    /// Cycles were counted with the last item.
    fresh: bool,
    queue: VecDeque<(Item, Stamp)>,
    notes: Notes,
    stamp: Stamp,
}

impl<'t> Decoder<'t> {
    /// A decoder that waits for its first stretch of trace.
    pub fn new(config: Config, wanted: EmitOptions) -> Decoder<'t> {
        Decoder {
            clock: Clock::new(&config),
            samplers: Samplers::new(wanted.period),
            config,
            hurried: false,
            wanted,
            input: Input::default(),
            phase: Phase::FindPsb,
            enabled: false,
            node: None,
            lost_ip: 0,
            context: CodeContext {
                mode: ExecMode::Bits64,
                guest: false,
            },
            next_context: CodeContext {
                mode: ExecMode::Bits64,
                guest: false,
            },
            mode: Mode {
                interrupts_disabled: true,
                ..Mode::default()
            },
            interrupts: false,
            graph: Graph::new(),
            epoch: 0,
            stack: ReturnStack::default(),
            recorder: PathRecorder::default(),
            last_ip: None,
            deferred: None,
            leaving: None,
            aborting: false,
            psb: None,
            split: None,
            resumed: None,
            announced: 0,
            overflowed: false,
            bound: Bound::default(),
            waiting_data: Vec::new(),
            event_data: Vec::new(),
            waiting_items: Vec::new(),
            block_kind: 0,
            items: Vec::new(),
            told_cbr: 0,
            limit: None,
            stop: None,
            held: Held::default(),
            decided: None,
            instructions: 0,
            cycles: Cycles::default(),
            run: PathState::default(),
            fresh: false,
            queue: VecDeque::new(),
            notes: Notes::default(),
            stamp: Stamp::default(),
        }
    }

    /// Gives the next stretch of the trace; what is left of the last one is dropped.
    ///
    /// A consecutive chunk goes on where the last one ended, even within a packet. Any other begins anew. Some packets
    /// refer to later ones, which are looked for within the chunk alone, as in perf: those with the value of an emulated
    /// PTWRITE, and the MTC packet up to which the length of a cycle is measured.
    pub fn push(&mut self, stretch: TraceChunk<'t>) {
        self.input.push(stretch);
        if !stretch.consecutive {
            self.clock.restart(stretch.reference);
            self.decided = None;
            self.lose_way(Phase::FindPsb);
            self.notes.add(Note::SeeksPsb);
        }
    }

    /// What is told from where decoding is resumed.
    pub fn set_emit_options(&mut self, wanted: EmitOptions) {
        self.wanted = wanted;
    }

    /// From here on [`Item::Pause`] comes instead of whatever the packets at this time or later would tell.
    pub fn set_limit(&mut self, limit: Option<Tsc>) {
        self.limit = limit;
    }

    /// The limit that was set.
    pub fn limit(&self) -> Option<Tsc> {
        self.limit
    }

    /// From here on [`Item::Pause`] comes where the packet at this place in the trace, or a later one, is next.
    pub fn set_stop(&mut self, stop: Option<u64>) {
        self.stop = stop;
    }

    /// The next item. After [`Item::End`] the next stretch can be fed.
    pub fn next(&mut self, code: &mut impl CodeSource) -> Item {
        if let Some(item) = self.told() {
            return item;
        }
        self.follow_code(code);
        if let Some(split) = self.split.take() {
            self.follow_split(split, code);
            if let Some(item) = self.told() {
                return item;
            }
        }
        loop {
            while let Some(rest) = self.resumed.take() {
                self.on_tnt(rest, code);
                if let Some(item) = self.told() {
                    return item;
                }
            }
            self.announced = 0;
            if let Some(item) = self.step(code) {
                return item;
            }
            if self.graph.is_full() {
                self.forget_code(code);
            }
        }
    }

    /// Takes note when addresses mean other code than before.
    fn follow_code(&mut self, code: &impl CodeSource) {
        if self.graph.follow_generation(code.generation()) {
            self.stack.outdate();
            match self.node {
                Some(node) if self.held.keeps_code(&self.graph, node) => {}
                _ => self.renew_node(code),
            }
        }
        self.held.over = false;
    }

    /// Begins with an empty graph.
    #[cold]
    fn forget_code(&mut self, code: &impl CodeSource) {
        let old = std::mem::replace(&mut self.graph, Graph::new());
        self.graph.follow_generation(code.generation());
        self.epoch += 1;
        let (graph, context) = (&mut self.graph, self.context);
        let mut renew = |node: u32| graph.node_at(old.nodes[node as usize].ip, context, code);
        self.node = self.node.map(&mut renew);
        self.stack.replace(renew);
        self.stack.outdate();
    }

    /// Reads a packet and does what it says.
    #[inline]
    fn step(&mut self, code: &impl CodeSource) -> Option<Item> {
        if (self.limit.is_some() || self.stop.is_some()) && self.is_due(code) {
            return Some(self.tell_at_once(Item::Pause));
        }
        if self.held.in_old_code {
            self.run.start();
            if self.leave_old_code(code) {
                return self.told();
            }
        }
        let Some(node) = self.ready() else {
            return self.step_any(code);
        };
        if let Some(byte) = self.input.next_short_tnt() {
            return self.follow_byte(node, byte, code);
        }
        match self.input.next_tip() {
            Some(ip) => self.follow_tip(node, ip, code),
            None => self.step_any(code),
        }
    }

    /// Where the program is, if a TNT packet may come.
    #[inline]
    fn ready(&self) -> Option<u32> {
        match self.phase {
            Phase::Follow
                if self.psb.is_none() && self.leaving.is_none() && self.deferred.is_none() =>
            {
                self.node
                    .filter(|_| !self.is_quick() && !self.notes.wanted && !self.held.in_old_code)
            }
            _ => None,
        }
    }

    fn step_any(&mut self, code: &impl CodeSource) -> Option<Item> {
        if self.phase == Phase::FindPsb && !self.input.find_psb() {
            return Some(self.tell_at_once(Item::End));
        }
        let Some(packet) = self.input.next() else {
            return Some(self.tell_at_once(Item::End));
        };
        self.note_packet(packet);
        match packet {
            Ok(packet) => self.on_packet(packet, code),
            Err(_) => self.on_bad_packet(code),
        }
        self.told()
    }

    fn on_packet(&mut self, packet: Packet, code: &impl CodeSource) {
        if self.deferred.is_some() && !self.answers_deferred(packet) {
            return self.refuse_deferred(packet, code);
        }
        let behind_cyc = self.clock.is_behind_cyc();
        if self.on_timing(packet) {
            if self.notes.wanted {
                self.note_time(packet, behind_cyc);
            }
            return;
        }
        self.clock.other_packet();
        match self.phase {
            Phase::FindPsb | Phase::FindIp => self.seek(packet, code),
            Phase::Follow if self.psb.is_some() => self.on_psb_plus(packet, code),
            Phase::Follow if self.leaving.is_some() => self.on_leaving(packet, code),
            Phase::Follow if self.is_quick() => self.on_quick(packet, code),
            Phase::Follow => self.on_flow(packet, code),
        }
    }

    /// A packet that steers the flow of control, or an event.
    fn on_flow(&mut self, packet: Packet, code: &impl CodeSource) {
        if !matches!(packet, Packet::Fup(_) | Packet::Pad) {
            self.bound.mode = None;
        }
        self.on_steering(packet, code);
    }

    fn on_steering(&mut self, packet: Packet, code: &impl CodeSource) {
        match packet {
            // The FUP behind an overflow may be missing (SKD010): any address will do.
            Packet::Tnt(_) if self.overflowed => {}
            Packet::Tip(ip) if self.overflowed => {
                self.enabled = true;
                self.found(ip, false, code);
            }
            Packet::Tnt(tnt) => self.on_tnt(tnt, code),
            Packet::Tip(ip) => self.on_tip(ip, false, code),
            Packet::TipPgd(ip) => self.on_tip(ip, true, code),
            Packet::TipPge(ip) => self.on_enable(ip, code),
            Packet::Fup(ip) => self.on_fup(ip, code),
            Packet::Psb => self.begin_psb(),
            Packet::Ovf => self.on_overflow(),
            Packet::TraceStop => self.on_trace_stop(),
            other => self.on_event(other),
        }
    }
}
