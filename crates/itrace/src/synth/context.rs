//! The state that samples of a queue are made with.

use std::num::NonZeroU8;

use intel_pt::Located;
use oxperf_machine::Machine;
use oxperf_session::Progress;
use rustc_hash::FxHashMap;

use super::ipc::IpcCounter;
use crate::pebs_event::PebsEvent;
use crate::queue::QueueDecoder;
use crate::select::{BlockTextCache, LinePrefix, SampleSelector};

/// The synthesis of a queue: counts and caches from one sample to the next.
#[derive(Default)]
pub(crate) struct QueueState {
    /// The instruction that ran before the item of which samples are made.
    pub(super) last: Option<Located>,
    /// The latest count of cycles.
    pub(super) cycles: u64,
    /// The latest ratio of the core's clock to the bus.
    pub(crate) cbr_seen: Option<NonZeroU8>,
    /// The events whose PEBS records are in the trace, by counter.
    pub(crate) pebs: FxHashMap<u64, PebsEvent>,
    /// The texts of the decoder's blocks.
    pub(super) texts: BlockTextCache,
    /// The prefix of their lines.
    pub(crate) prefix: LinePrefix,
    /// Selects samples and calls of the code that ran.
    pub(super) selector: SampleSelector,
    pub(super) instructions_sampled: u64,
    pub(super) by_branches: IpcCounter,
    pub(super) by_instructions: IpcCounter,
    pub(super) by_cycles: IpcCounter,
}

/// A queue of which samples are made, the machine that its code ran on, and the sink of the samples.
pub(crate) struct SynthContext<'c, 't, S> {
    pub(crate) machine: &'c mut Machine,
    pub(crate) sink: &'c mut S,
    pub(crate) queue: &'c mut QueueDecoder<'t>,
    pub(crate) state: &'c mut QueueState,
}

impl<S> SynthContext<'_, '_, S> {
    /// The progress of the queue, at a point that this count of instructions and maybe cycles belongs to.
    pub(super) fn progress(&mut self, instructions: u64, cycles: Option<u64>) -> Progress {
        let queue = &self.queue;
        self.state.cycles = cycles.unwrap_or(self.state.cycles);
        Progress {
            queue: queue.number,
            stretch: queue.feed.stretch.wrapping_add(queue.errors << 32),
            instructions,
            cycles: self.state.cycles,
        }
    }
}
