//! The queue that workers take chunks from and hand their outputs to.

use std::sync::{Condvar, Mutex, PoisonError};

use super::chunk::{Chunk, ChunkSource, MAX_AHEAD, SharedTrace};
use super::chunk_output::ChunkOutput;
use super::frontier::Frontier;
use super::instruction_counts::InstructionCounts;
use super::locks::{lock, wait};
use super::reorder_buffer::{DoneChunk, ReorderBuffer};

/// Bytes of outputs above which no chunk is begun; those of chunks in work come on top.
const MAX_BUFFERED: usize = 16 << 20;

/// The moment from which no further chunk is begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closing {
    /// At the end of the trace.
    AtEnd,
    /// As soon as there is no room, either.
    WhenFull,
    /// At once.
    Now,
}

/// The outputs and what decides whether more are made.
struct QueueState {
    outputs: ReorderBuffer,
    /// Chunks that are in work or done.
    ahead: usize,
    /// So many may be; it grows with success, so that little is done in vain.
    max_ahead: usize,
    closing: Closing,
    /// Workers that are at work.
    workers: usize,
    /// Outputs whose memory is used again.
    spare: Vec<ChunkOutput>,
    /// So many are held: they may be big.
    max_spare: usize,
}

/// A queue of chunks and of the outputs for them.
pub(crate) struct WorkQueue<'t> {
    source: Mutex<ChunkSource<'t>>,
    state: Mutex<QueueState>,
    /// An output was put, or a worker left.
    output_changed: Condvar,
    /// An output was taken.
    room_changed: Condvar,
    /// Instructions before each chunk.
    pub(super) counts: InstructionCounts,
}

impl<'t> WorkQueue<'t> {
    /// Chunks of at least `chunk_bytes` behind the frontier, for so many workers.
    pub(super) fn new(
        from: &Frontier,
        trace: SharedTrace<'t>,
        chunk_bytes: u64,
        workers: usize,
        spare: Vec<ChunkOutput>,
    ) -> WorkQueue<'t> {
        let state = QueueState {
            outputs: ReorderBuffer::default(),
            ahead: 0,
            max_ahead: 2 * workers,
            closing: Closing::AtEnd,
            workers: 0,
            max_spare: workers,
            spare,
        };
        WorkQueue {
            source: Mutex::new(ChunkSource::new(from.at.clone(), trace, chunk_bytes)),
            state: Mutex::new(state),
            output_changed: Condvar::new(),
            room_changed: Condvar::new(),
            counts: InstructionCounts::new(from.prior.instructions),
        }
    }

    /// True when there is enough for more than one worker.
    pub(crate) fn is_worth_while(&self) -> bool {
        lock(&self.source).look_ahead(2)
    }

    /// The offset up to which it was looked ahead.
    pub(crate) fn looked_to(&self) -> u64 {
        lock(&self.source).looked_to()
    }

    /// Notes the instructions up to the end of a chunk: the worker of the next one may not have known.
    pub(crate) fn went_on(&self, chunk: &Chunk, instructions: u64) {
        self.counts.correct(chunk.number + 1, instructions);
    }

    /// Begins anew after [`WorkQueue::put_back`].
    pub(crate) fn open(&self) {
        lock(&self.state).closing = Closing::AtEnd;
    }

    /// Ends the work: no further chunk is begun.
    pub(super) fn close(&self) {
        lock(&self.state).closing = Closing::Now;
        self.room_changed.notify_all();
    }

    /// Takes the next chunk; `None` at the end.
    pub(super) fn take_chunk(&self) -> Option<Chunk> {
        lock(&self.source).take()
    }

    /// Waits until a chunk may be begun; gives an output to fill. `None` when the work is over.
    pub(super) fn wait_for_room(&self) -> Option<ChunkOutput> {
        let mut state = lock(&self.state);
        loop {
            let is_full = state.ahead >= state.max_ahead || state.outputs.bytes() >= MAX_BUFFERED;
            match state.closing {
                Closing::Now => return None,
                Closing::WhenFull if is_full => return None,
                _ if !is_full => break,
                _ => state = wait(&self.room_changed, state),
            }
        }
        state.ahead += 1;
        Some(state.spare.pop().unwrap_or_default())
    }

    /// Gives back an output when there was no chunk for it.
    pub(super) fn leave_room(&self, output: ChunkOutput) {
        let mut state = lock(&self.state);
        state.ahead -= 1;
        state.spare.push(output);
    }

    /// Puts the output for a chunk.
    pub(super) fn put(&self, done: DoneChunk) {
        let is_next = lock(&self.state).outputs.put(done);
        if is_next {
            self.output_changed.notify_one();
        }
    }

    /// Takes the next output, if it is there.
    pub(crate) fn first(&self) -> Option<DoneChunk> {
        lock(&self.state).take_first()
    }

    /// Waits for the next output; `None` when no worker is left to make it.
    pub(super) fn wait_for_first(&self) -> Option<DoneChunk> {
        let mut state = lock(&self.state);
        loop {
            match state.take_first() {
                Some(first) => return Some(first),
                None if state.workers == 0 => return None,
                None => state = wait(&self.output_changed, state),
            }
        }
    }

    /// Gives back an output that was taken; more may be ahead than before.
    pub(crate) fn recycle(&self, output: ChunkOutput) {
        let mut state = lock(&self.state);
        if state.spare.len() < state.max_spare {
            state.spare.push(output);
        }
        state.max_ahead = (state.max_ahead + 1).min(MAX_AHEAD);
        drop(state);
        self.room_changed.notify_all();
    }

    /// Puts back an output that cannot be used yet: the workers are to leave when there is no room any more.
    pub(super) fn put_back(&self, done: DoneChunk) {
        let mut state = lock(&self.state);
        state.outputs.put_back(done);
        state.ahead += 1;
        state.closing = Closing::WhenFull;
        drop(state);
        self.room_changed.notify_all();
    }

    /// Outputs whose memory can be used again.
    pub(super) fn into_spare(self) -> Vec<ChunkOutput> {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .spare
    }
}

impl QueueState {
    fn take_first(&mut self) -> Option<DoneChunk> {
        let first = self.outputs.take_first()?;
        self.ahead -= 1;
        Some(first)
    }
}

/// Counts a worker as long as it lives, however it ends.
pub(super) struct WorkerGuard<'q, 't>(&'q WorkQueue<'t>);

impl<'q, 't> WorkerGuard<'q, 't> {
    /// Counts a worker that comes.
    pub(super) fn new(work_queue: &'q WorkQueue<'t>) -> WorkerGuard<'q, 't> {
        lock(&work_queue.state).workers += 1;
        WorkerGuard(work_queue)
    }
}

impl Drop for WorkerGuard<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.counts.break_off();
        }
        lock(&self.0.state).workers -= 1;
        self.0.output_changed.notify_one();
    }
}
