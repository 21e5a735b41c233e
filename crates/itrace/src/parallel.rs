//! Decoding on all cores: chunks of a queue's trace, from one PSB to a later one, each by a worker of its own.
//!
//! A scanner foretells the state of a decoder at each PSB, and every worker begins there. Its output counts only if the
//! worker before it arrived at exactly the foretold state: then it is the output of one decoder. Otherwise the queue's own
//! decoder goes on from the last place that is certain.
//!
//! The pool is not that of the crate `ordered`: workers here take chunks themselves from a scanner that looks ahead, tell
//! each other their counts, and stop when an output shows that the chunks were foretold wrongly.

mod chunk;
mod chunk_output;
mod frontier;
mod instruction_counts;
mod locks;
mod reorder_buffer;
mod text_pages;
mod work_queue;
mod worker;

use std::thread;

use intel_pt::{Decoder, EmitOptions, TraceChunk};

use crate::plan::Plan;
pub(crate) use chunk::{Chunk, SharedTrace};
pub(crate) use chunk_output::{ChunkOutput, OutputKind};
pub(crate) use frontier::Frontier;
pub(crate) use reorder_buffer::DoneChunk;
pub(crate) use text_pages::TextPosition;
pub(crate) use work_queue::WorkQueue;
use work_queue::WorkerGuard;
pub(crate) use worker::DecodeContext;
use worker::Worker;

/// The cores that decode, and their shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores {
    /// Workers; 1 for none beside the one decoder.
    pub count: usize,
    /// Bytes of trace that a worker takes at a time, at least.
    pub chunk_bytes: usize,
}

impl Cores {
    /// One after the other.
    pub const ONE: Cores = Cores {
        count: 1,
        chunk_bytes: Cores::CHUNK_BYTES,
    };

    /// The bytes between two PSBs as the kernel asks for them: a fifth of a millisecond, and text that can be buffered.
    const CHUNK_BYTES: usize = 16 << 10;

    /// So many cores.
    pub fn new(count: usize) -> Cores {
        Cores {
            count: count.clamp(1, 64),
            chunk_bytes: Cores::CHUNK_BYTES,
        }
    }

    /// All that this process may run on.
    pub fn all() -> Cores {
        Cores::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The fate of an output while the workers go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acceptance {
    /// It was taken.
    Accepted,
    /// It can be taken when the workers rest.
    Deferred,
    /// Neither it nor later ones are of any use.
    Refused,
}

/// The workers.
#[derive(Default)]
pub(crate) struct WorkerPool<'t> {
    workers: Vec<Worker<'t>>,
    /// Bytes of a chunk, at least.
    chunk_bytes: u64,
    /// Chunks that were refused one after another.
    refused: u32,
    /// Outputs whose memory is used again.
    spare: Vec<ChunkOutput>,
}

impl<'t> WorkerPool<'t> {
    /// Workers for each core, or none where there is one core only.
    pub(crate) fn new(cores: Cores, plan: &Plan, emit: EmitOptions) -> WorkerPool<'t> {
        let count = if cores.count > 1 { cores.count } else { 0 };
        let workers = (0..count).map(|_| Worker::new(plan, emit)).collect();
        WorkerPool {
            workers,
            chunk_bytes: cores.chunk_bytes as u64,
            ..WorkerPool::default()
        }
    }

    /// The offset at which a queue's own decoder should stop, for the trace behind it to be shared out; `None` where it
    /// is not worth while.
    pub(crate) fn next_stop(&self, decoder: &Decoder<'t>, from: u64) -> Option<u64> {
        if !self.has_workers() {
            return None;
        }
        let TraceChunk { bytes, offset, .. } = decoder.unread();
        let end = offset + bytes.len() as u64;
        decoder
            .next_sync(from.max(offset))
            .filter(|stop| end - stop >= 2 * self.chunk_bytes)
    }

    /// A queue of chunks for the trace behind the frontier.
    pub(crate) fn work_queue(&mut self, from: &Frontier, trace: SharedTrace<'t>) -> WorkQueue<'t> {
        let spare = std::mem::take(&mut self.spare);
        WorkQueue::new(from, trace, self.chunk_bytes, self.workers.len(), spare)
    }

    /// Takes back the memory of a queue's outputs.
    pub(crate) fn clear(&mut self, work_queue: WorkQueue<'t>) {
        self.spare = work_queue.into_spare();
    }

    /// Notes that the output for a chunk up to `end` was refused; gives the offset up to which it is not worth while to
    /// share trace out: the more the oftener that happens.
    pub(crate) fn refuse(&mut self, end: u64) -> u64 {
        self.refused = (self.refused + 1).min(8);
        end + (self.chunk_bytes << self.refused)
    }

    /// Notes that an output was accepted.
    pub(crate) fn accept(&mut self) {
        self.refused = 0;
    }

    /// Lets all workers take chunks from the queue, as long as there are some and there is room for their outputs.
    /// Meanwhile `take` gets the outputs, in order.
    pub(crate) fn work(
        &mut self,
        work_queue: &WorkQueue<'t>,
        cx: DecodeContext<'_, 't>,
        mut take: impl FnMut(&DoneChunk) -> Acceptance,
    ) {
        let started = thread::scope(|scope| {
            let mut started = 0;
            for worker in &mut self.workers {
                let guard = WorkerGuard::new(work_queue);
                let work = move || {
                    let _guard = guard;
                    worker.work(work_queue, cx);
                };
                // Chunks for which no thread can be had, the others take.
                started += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
            }
            while let Some(done) = work_queue.wait_for_first() {
                match take(&done) {
                    Acceptance::Accepted => work_queue.recycle(done.output),
                    Acceptance::Deferred => {
                        work_queue.put_back(done);
                        break;
                    }
                    Acceptance::Refused => {
                        work_queue.close();
                        break;
                    }
                }
            }
            started
        });
        if started == 0 {
            // From here on the queues' own decoders do everything.
            self.workers.clear();
        }
    }

    /// True when trace can be shared out.
    pub(crate) fn has_workers(&self) -> bool {
        !self.workers.is_empty()
    }
}
