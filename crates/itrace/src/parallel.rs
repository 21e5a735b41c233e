//! Decoding on all cores: stretches of a queue's trace, from one PSB to a later one, each by a worker of its own.
//!
//! A scout foretells what a decoder knows at each PSB, and every worker begins there. What it made counts only if the
//! worker before it arrived at exactly what was foretold: then it is what one decoder would have made. Otherwise the
//! lane's own decoder goes on from the last place that is certain.

mod chunk_output;
mod instruction_counts;
mod text_pages;
mod work_queue;
mod worker;

use std::thread;

use intel_pt::{Checkpoint, Choice, Decoder, EmitOptions, TraceChunk, Tsc};

use crate::decoded::Earlier;
use crate::plan::Plan;
pub(crate) use chunk_output::{Portion, What};
pub(crate) use text_pages::Mark;
use work_queue::Leaving;
pub(crate) use work_queue::{Desk, Task};
pub(crate) use worker::Shared;
use worker::Worker;

/// How many cores decode, and how.
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

    /// What lies between two PSBs as the kernel asks for them: a fifth of a millisecond, and text that can be kept.
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

/// Up to where the trace is decoded for certain.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) at: Checkpoint,
    pub(crate) earlier: Earlier,
}

impl Progress {
    /// Which choice of the next sample is the right one of those that a stretch was decoded for; `None` if it is none, or
    /// depends on more than was foretold.
    pub(crate) fn choice(&self, portion: &Portion, task: &Task) -> Option<Choice> {
        task.start
            .choice(&self.at)
            .filter(|_| self.earlier.since <= portion.leeway)
    }

    /// Takes a stretch over, if it was decoded to its end as foretold.
    pub(crate) fn accept(&mut self, portion: &Portion, task: &Task, choice: Choice) -> bool {
        let Some(arrived) = portion
            .end
            .as_ref()
            .filter(|end| end.agrees_but_for_samples(&task.end))
        else {
            return false;
        };
        self.earlier.instructions += portion.instructions;
        self.earlier.since = portion
            .since
            .unwrap_or(self.earlier.since + portion.instructions);
        self.earlier.last = portion.last.unwrap_or(self.earlier.last);
        self.at = arrived.chosen(choice);
        true
    }
}

/// What becomes of a portion while the workers go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It was taken.
    Yes,
    /// It can be taken when the workers rest.
    Later,
    /// Neither this nor what comes after it is of any use.
    No,
}

/// The workers.
#[derive(Default)]
pub(crate) struct Crew<'t> {
    workers: Vec<Worker<'t>>,
    piece: u64,
    /// Stretches that were refused one after another.
    refused: u32,
    /// Room for what comes.
    spare: Vec<Portion>,
}

impl<'t> Crew<'t> {
    /// Workers for each core, or none where there is one core only.
    pub(crate) fn new(cores: Cores, plan: &Plan, wanted: EmitOptions) -> Crew<'t> {
        let count = if cores.count > 1 { cores.count } else { 0 };
        let workers = (0..count).map(|_| Worker::new(plan, wanted)).collect();
        Crew {
            workers,
            piece: cores.chunk_bytes as u64,
            ..Crew::default()
        }
    }

    /// Where the lane's own decoder should stop, for the trace behind it to be shared out.
    pub(crate) fn next_stop(&self, decoder: &Decoder<'t>, from: u64) -> Option<u64> {
        if !self.has_workers() {
            return None;
        }
        let TraceChunk { bytes, offset, .. } = decoder.unread();
        let end = offset + bytes.len() as u64;
        decoder
            .next_sync(from.max(offset))
            .filter(|stop| end - stop >= 2 * self.piece)
    }

    /// A desk for the trace behind what is decoded, up to a time.
    pub(crate) fn desk(
        &mut self,
        from: &Progress,
        trace: (TraceChunk<'t>, Option<Tsc>),
    ) -> Desk<'t> {
        let spare = std::mem::take(&mut self.spare);
        Desk::new(from, trace, self.piece, self.workers.len(), spare)
    }

    /// Takes back what a desk had room in.
    pub(crate) fn clear(&mut self, desk: Desk<'t>) {
        self.spare = desk.into_spare();
    }

    /// Up to where it is not worth while to share trace out, when what was made up to `end` was refused: the more the
    /// oftener that happens.
    pub(crate) fn refuse(&mut self, end: u64) -> u64 {
        self.refused = (self.refused + 1).min(8);
        end + (self.piece << self.refused)
    }

    /// Something was accepted.
    pub(crate) fn accept(&mut self) {
        self.refused = 0;
    }

    /// Has all workers take stretches from the desk, as long as there are some and there is room for what they make.
    /// Meanwhile `take` gets what they made, in order.
    pub(crate) fn work(
        &mut self,
        desk: &Desk<'t>,
        trace: TraceChunk<'t>,
        shared: Shared<'_>,
        mut take: impl FnMut(&Portion, &Task) -> Taken,
    ) {
        let started = thread::scope(|scope| {
            let mut started = 0;
            for worker in &mut self.workers {
                let leaving = Leaving::new(desk);
                let work = move || {
                    let _leaving = leaving;
                    worker.work(desk, trace, shared);
                };
                // What no thread can be had for, the others take.
                started += usize::from(thread::Builder::new().spawn_scoped(scope, work).is_ok());
            }
            while let Some((portion, task)) = desk.wait_for_first() {
                match take(&portion, &task) {
                    Taken::Yes => desk.recycle(portion),
                    Taken::Later => {
                        desk.put_back(portion, task);
                        break;
                    }
                    Taken::No => {
                        desk.close();
                        break;
                    }
                }
            }
            started
        });
        if started == 0 {
            // From here on the lanes' own decoders do everything.
            self.workers.clear();
        }
    }

    /// Whether trace can be shared out.
    pub(crate) fn has_workers(&self) -> bool {
        !self.workers.is_empty()
    }
}
