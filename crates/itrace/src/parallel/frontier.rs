//! The frontier: the place up to which the trace is decoded for certain.

use intel_pt::{Checkpoint, Choice};

use super::chunk::Chunk;
use super::chunk_output::ChunkOutput;
use crate::decoded::PriorState;

/// The place up to which the trace is decoded for certain.
#[derive(Debug)]
pub(crate) struct Frontier {
    pub(crate) at: Checkpoint,
    pub(crate) prior: PriorState,
}

impl Frontier {
    /// The right choice of the next sample among those that a chunk was decoded for; `None` if it is none of them, or
    /// depends on more than was foretold.
    pub(crate) fn choice(&self, output: &ChunkOutput, chunk: &Chunk) -> Option<Choice> {
        let arrival = output.arrival.as_ref();
        let is_foretold = arrival.is_none_or(|arrival| self.prior.since <= arrival.leeway);
        chunk.start.choice(&self.at).filter(|_| is_foretold)
    }

    /// Goes on behind a chunk, if it was decoded to its end as foretold.
    pub(crate) fn accept(&mut self, output: &ChunkOutput, chunk: &Chunk, choice: Choice) -> bool {
        let Some(arrival) = output
            .arrival
            .as_ref()
            .filter(|arrival| arrival.end.agrees_but_for_samples(&chunk.end))
        else {
            return false;
        };
        self.prior.instructions += arrival.instructions;
        self.prior.since = arrival
            .since
            .unwrap_or(self.prior.since + arrival.instructions);
        self.prior.last = arrival.last.unwrap_or(self.prior.last);
        self.at = arrival.end.chosen(choice);
        true
    }
}
