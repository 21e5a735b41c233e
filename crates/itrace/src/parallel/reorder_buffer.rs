//! Outputs of workers, put back into the order of their chunks.

use std::collections::VecDeque;

use super::chunk::Chunk;
use super::chunk_output::ChunkOutput;

/// A chunk with the output for it.
pub(crate) struct DoneChunk {
    pub(crate) chunk: Chunk,
    pub(crate) output: ChunkOutput,
}

/// Outputs that were made and not taken, in order.
#[derive(Default)]
pub(super) struct ReorderBuffer {
    done: VecDeque<Option<DoneChunk>>,
    /// The number of the first of these.
    first: usize,
    /// Bytes that they take.
    bytes: usize,
}

impl ReorderBuffer {
    /// Bytes of all outputs.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Puts an output into its place; true when it is the next one.
    pub(super) fn put(&mut self, done: DoneChunk) -> bool {
        let place = done.chunk.number - self.first;
        if self.done.len() <= place {
            self.done.resize_with(place + 1, || None);
        }
        self.bytes += done.output.size();
        self.done[place] = Some(done);
        place == 0
    }

    /// Takes the next output, if it is there.
    pub(super) fn take_first(&mut self) -> Option<DoneChunk> {
        let first = self.done.front_mut()?.take()?;
        self.done.pop_front();
        self.first += 1;
        self.bytes -= first.output.size();
        Some(first)
    }

    /// Puts back the output that was taken last.
    pub(super) fn put_back(&mut self, done: DoneChunk) {
        self.bytes += done.output.size();
        self.first -= 1;
        self.done.push_front(Some(done));
    }
}
