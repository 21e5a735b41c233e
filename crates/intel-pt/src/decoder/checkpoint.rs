//! Going on from the middle of a trace: the state of a decoder behind a PSB+ that names an address.
//!
//! There the processor has given its mode and address anew and refers to nothing before it, so that the items that come
//! depend on little: the clocks, and the last item. A [`PsbScanner`](super::PsbScanner) predicts checkpoints without
//! following the code; a decoder that comes to the place of one can be compared with it.

use std::num::NonZeroU8;

use super::{Decoder, TraceChunk};
use crate::code::CodeSource;
use crate::config::{Config, EmitOptions};
use crate::graph::CodeContext;
use crate::item::{Mode, Tsc};
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
    pub(super) emitted_cbr: Option<NonZeroU8>,
    pub(super) cbr_payload: u16,
    pub(super) decided: Option<Tsc>,
    /// Cycles were counted with the last item.
    pub(super) fresh: bool,
    pub(super) clock: Clock,
    /// The choice of the next instruction to sample; of a predicted checkpoint every possible one.
    pub(super) samplers: Samplers,
}

impl Checkpoint {
    /// The state of a decoder that has read nothing yet.
    pub(super) fn of_beginning(config: &Config, options: EmitOptions) -> Checkpoint {
        Checkpoint {
            offset: 0,
            ip: 0,
            context: CodeContext::UNKNOWN,
            mode: Mode::unknown(),
            interrupts: false,
            emitted_cbr: None,
            cbr_payload: 0,
            decided: None,
            fresh: false,
            clock: Clock::new(config),
            samplers: Samplers::new(options.period),
        }
    }

    /// The place in the trace behind the PSB+.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The time there; `None` if it is not known.
    pub fn time(&self) -> Option<Tsc> {
        self.clock.time()
    }

    /// True if all but the choice of the next sample is the same, which cannot be predicted.
    pub fn agrees_but_for_samples(&self, other: &Checkpoint) -> bool {
        Checkpoint {
            samplers: other.samplers.clone(),
            ..self.clone()
        } == *other
    }

    /// The right choice of the next sample, when this was predicted and now `known` is; `None` if it was not among the
    /// predicted ones.
    pub fn choice(&self, known: &Checkpoint) -> Option<Choice> {
        self.samplers
            .choice(&known.samplers, self.clock.time().map_or(0, |time| time.0))
    }

    /// This checkpoint where so many instructions ran before: they decide the next one to be sampled by number.
    #[must_use]
    pub fn behind(self, instructions: u64) -> Checkpoint {
        Checkpoint {
            samplers: self.samplers.behind(instructions),
            ..self
        }
    }

    /// This checkpoint when a choice was the right one where decoding was resumed.
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
        self.follower.checkpoint()
    }

    /// Goes on from a checkpoint, with the trace behind it. Instructions are counted from 0 again.
    pub fn resume(&mut self, from: &Checkpoint, chunk: TraceChunk<'t>, code: &impl CodeSource) {
        let paused = self.limits.take_pause();
        self.follower.restore(from, chunk, code, paused);
    }

    /// Instructions so far, and those of them since the time was known exactly; `None` if it was not since a checkpoint.
    pub fn counted(&self) -> (u64, Option<u64>) {
        self.follower.emitter().counted()
    }

    /// Instructions that may have run since the time was known exactly, before decoding was resumed, without any difference
    /// to the items since.
    pub fn leeway(&self) -> u64 {
        self.follower.emitter().leeway()
    }

    /// Counts on from here, where others decoded the trace before.
    pub fn count_on(&mut self, instructions: u64, since: u64) {
        self.follower.emitter_mut().count_on(instructions, since);
    }

    /// The trace that was pushed and not read.
    pub fn unread(&self) -> TraceChunk<'t> {
        self.follower.emitter().trace().packets().unread()
    }

    /// The place in the trace behind the next PSB+ that names an address and begins at `from` or later, if it is known
    /// to be whole.
    pub fn next_sync(&self, from: u64) -> Option<u64> {
        let TraceChunk { bytes, offset, .. } = self.unread();
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
