//! Chunks of a queue's trace, from one PSB to a later one.

use std::collections::VecDeque;

use intel_pt::{Checkpoint, PsbScanner, TraceChunk, Tsc};

/// Most chunks that may be ahead of those that were taken.
pub(super) const MAX_AHEAD: usize = 256;

/// A chunk of trace.
pub(crate) struct Chunk {
    pub(super) number: usize,
    pub(crate) start: Checkpoint,
    pub(crate) end: Checkpoint,
}

impl Chunk {
    /// Bytes of trace.
    pub(crate) fn length(&self) -> u64 {
        self.end.offset() - self.start.offset()
    }
}

/// The trace that is shared out.
#[derive(Clone, Copy)]
pub(crate) struct SharedTrace<'t> {
    /// Bytes from the first chunk on.
    pub(crate) unread: TraceChunk<'t>,
    /// The time up to which it is decoded; `None` for all of it.
    pub(crate) limit: Option<Tsc>,
}

impl<'t> SharedTrace<'t> {
    /// The bytes from an offset of the trace on.
    pub(crate) fn rest_at(self, offset: u64) -> TraceChunk<'t> {
        let skipped = usize::try_from(offset - self.unread.offset).unwrap_or(usize::MAX);
        TraceChunk {
            bytes: self.unread.bytes.get(skipped..).unwrap_or_default(),
            ..self.unread
        }
    }
}

/// The source of chunks: a scanner that reads on when the next one is asked for.
pub(super) struct ChunkSource<'t> {
    scanner: PsbScanner<'t>,
    /// The start of the next chunk.
    start: Checkpoint,
    /// The ends of chunks that nobody took yet.
    ends: VecDeque<Checkpoint>,
    /// Bytes of a chunk, at least.
    chunk_bytes: u64,
    number: usize,
}

impl<'t> ChunkSource<'t> {
    /// Chunks of at least `chunk_bytes` from `start` on.
    pub(super) fn new(
        start: Checkpoint,
        trace: SharedTrace<'t>,
        chunk_bytes: u64,
    ) -> ChunkSource<'t> {
        ChunkSource {
            scanner: PsbScanner::new(&start, trace.unread, trace.limit),
            start,
            ends: VecDeque::new(),
            chunk_bytes,
            number: 0,
        }
    }

    /// Looks ahead till so many chunks are known; true when there are as many.
    pub(super) fn look_ahead(&mut self, count: usize) -> bool {
        while self.ends.len() < count {
            let last = self.ends.back().unwrap_or(&self.start).offset();
            let is_far = |found: &Checkpoint| found.offset() - last >= self.chunk_bytes;
            let Some(end) = self.scanner.find(is_far) else {
                return false;
            };
            self.ends.push_back(end);
        }
        true
    }

    /// The offset up to which it looked ahead.
    pub(super) fn looked_to(&self) -> u64 {
        self.scanner.offset()
    }

    /// The next chunk; `None` at the end.
    pub(super) fn take(&mut self) -> Option<Chunk> {
        self.look_ahead(1);
        let end = self.ends.pop_front()?;
        let start = std::mem::replace(&mut self.start, end.clone());
        let number = self.number;
        self.number += 1;
        Some(Chunk { number, start, end })
    }
}
