//! Going on from the middle of a trace: what a decoder knows behind a PSB+ that names an address.
//!
//! There the processor has told its mode and address anew and refers to nothing before it, so that what comes depends
//! on little: the clocks, and what was told last. A [`PsbScanner`](super::PsbScanner) foretells checkpoints without following the
//! code; whoever decodes up to one can compare it with what the decoder knows there.

use super::{Decoder, Phase};
use crate::TraceChunk;
use crate::code::CodeSource;
use crate::graph::CodeContext;
use crate::item::{Cycles, Mode, Tsc};
use crate::packet::Packet;
use crate::time::{Choice, Clock, Samplers};

/// The state behind a PSB+ that names an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    pub(super) offset: u64,
    pub(super) ip: u64,
    pub(super) context: CodeContext,
    pub(super) mode: Mode,
    pub(super) interrupts: bool,
    pub(super) told_cbr: u8,
    pub(super) cbr_payload: u16,
    pub(super) decided: Option<Tsc>,
    /// Cycles were told with what came last.
    pub(super) fresh: bool,
    pub(super) clock: Clock,
    /// Which instruction is the next to be sampled; of a foretold one whichever it may be.
    pub(super) samplers: Samplers,
}

impl Checkpoint {
    /// The place in the trace behind the PSB+.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The time there; `None` if it was not told.
    pub fn time(&self) -> Option<Tsc> {
        self.clock.time()
    }

    /// Whether all but the choice of the next sample is the same, which cannot be foretold.
    pub fn agrees_but_for_samples(&self, other: &Checkpoint) -> bool {
        Checkpoint {
            samplers: other.samplers.clone(),
            ..self.clone()
        } == *other
    }

    /// Which choice of the next sample was the right one, when this was foretold and now `known` is; `None` if that was
    /// not thought of.
    pub fn choice(&self, known: &Checkpoint) -> Option<Choice> {
        self.samplers
            .choice(&known.samplers, self.clock.time().map_or(0, |time| time.0))
    }

    /// The same where so many instructions ran before: that decides which one is the next to be sampled by number.
    #[must_use]
    pub fn behind(self, instructions: u64) -> Checkpoint {
        Checkpoint {
            samplers: self.samplers.behind(instructions),
            ..self
        }
    }

    /// What is known here when a choice was the right one where decoding was resumed.
    pub fn chosen(&self, choice: Choice) -> Checkpoint {
        Checkpoint {
            samplers: self.samplers.chosen(choice),
            ..self.clone()
        }
    }
}

impl<'t> Decoder<'t> {
    /// The state here; `None` where more than a [`Checkpoint`] holds would be needed to go on.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let ip = self.node.map(|node| self.graph.nodes[node as usize].ip)?;
        let bare = self.psb.is_none() && self.leaving.is_none() && self.deferred.is_none();
        let told = self.queue.is_empty() && self.split.is_none() && self.resumed.is_none();
        let waits = !self.bound.is_empty()
            || !self.waiting_data.is_empty()
            || !self.waiting_items.is_empty();
        let follows = self.phase == Phase::Follow && self.enabled && self.stack.is_empty();
        let turns = self.next_context != self.context;
        let odd = turns || self.overflowed || self.aborting || waits || self.last_ip != Some(ip);
        if !(bare && told && follows && self.input.is_whole()) || odd {
            return None;
        }
        Some(Checkpoint {
            offset: self.input.offset(),
            ip,
            ..self.beginning()
        })
    }

    /// What is known, wherever the program is.
    pub(super) fn beginning(&self) -> Checkpoint {
        Checkpoint {
            offset: 0,
            ip: 0,
            context: self.context,
            mode: self.mode,
            interrupts: self.interrupts,
            told_cbr: self.told_cbr,
            cbr_payload: self.run.cbr_payload,
            decided: self.decided,
            fresh: self.fresh,
            clock: self.clock.begin_count(),
            samplers: self.samplers.clone(),
        }
    }

    /// Goes on from a checkpoint, with the trace behind it. Instructions are counted from 0 again.
    pub fn resume(&mut self, from: &Checkpoint, stretch: TraceChunk<'t>, code: &impl CodeSource) {
        self.input.push(TraceChunk {
            consecutive: false,
            offset: from.offset,
            ..stretch
        });
        self.lose_way(Phase::Follow);
        self.follow_code(code);
        self.stack.clear();
        self.queue.clear();
        (self.overflowed, self.aborting) = (false, false);
        self.waiting_data.clear();
        self.waiting_items.clear();
        self.run.forget();
        self.enabled = true;
        (self.context, self.mode, self.interrupts) = (from.context, from.mode, from.interrupts);
        self.next_context = from.context;
        (self.told_cbr, self.run.cbr_payload) = (from.told_cbr, from.cbr_payload);
        (self.decided, self.last_ip) = (from.decided, Some(from.ip));
        (self.clock, self.fresh) = (from.clock.clone(), from.fresh);
        (self.samplers, self.hurried) = (from.samplers.clone(), false);
        let cycles = self.clock.total_cycles();
        (self.cycles, self.instructions) = (
            Cycles {
                exact: cycles,
                rough: cycles,
            },
            0,
        );
        self.node = Some(self.graph.node_at(from.ip, self.context, code));
    }

    /// Instructions so far, and those of them since the time was told; `None` if it was not since a checkpoint.
    pub fn counted(&self) -> (u64, Option<u64>) {
        let since = self
            .clock
            .changed_at
            .map(|_| self.clock.since(self.instructions));
        (self.instructions, since)
    }

    /// How many instructions may have run since the time was told, before decoding was resumed, without any difference to
    /// what was told since.
    pub fn leeway(&self) -> u64 {
        match (self.samplers.go_by_time(), self.hurried) {
            (false, _) => u64::MAX,
            (true, true) => 0,
            (true, false) => Decoder::NEAR,
        }
    }

    /// Instructions by which a sample may be nearer than it seems.
    pub(super) const NEAR: u64 = 256;

    /// Counts on from here, where others decoded what was before.
    pub fn count_on(&mut self, instructions: u64, since: u64) {
        self.instructions = instructions;
        self.clock.changed_at = Some(instructions.saturating_sub(since));
    }

    /// The trace that was fed and not read.
    pub fn unread(&self) -> TraceChunk<'t> {
        self.input.unread()
    }

    /// The place in the trace behind the next PSB+ that names an address and begins at `from` or later, if it is known
    /// to be whole.
    pub fn next_sync(&self, from: u64) -> Option<u64> {
        let TraceChunk { bytes, offset, .. } = self.input.unread();
        let mut reader = crate::packet::PacketReader::new(bytes);
        reader.seek(
            usize::try_from(from.saturating_sub(offset))
                .ok()?
                .min(bytes.len()),
        );
        while reader.resync() {
            let mut named = false;
            for packet in reader.by_ref() {
                match packet.ok()? {
                    Packet::PsbEnd => break,
                    Packet::Fup(_) => named = true,
                    _ => {}
                }
            }
            if named {
                return Some(offset + reader.offset() as u64);
            }
        }
        None
    }
}
