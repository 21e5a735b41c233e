//! Decoding on all cores: stretches of a queue's trace, from one PSB to a later one, each by a worker of its own.
//!
//! A scout foretells what a decoder knows at each PSB, and every worker begins there. What it made counts only if the
//! worker before it arrived at exactly what was foretold: then it is what one decoder would have made. Otherwise the
//! lane's own decoder goes on from the last place that is certain.

use std::thread;

use intel_pt::{Checkpoint, Decoder, Item, Moment, Scout, Stretch, Tsc, Wanted};
use oxperf_machine::{Machine, ThreadId};

use crate::code::{Images, ThreadCode};
use crate::plan::Plan;
use crate::synth::{BlockTexts, Written, state_flags};

/// How many cores decode, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores {
    /// Workers; 1 for none beside the one decoder.
    pub count: usize,
    /// Bytes of trace that a worker takes at a time, at least.
    pub piece: usize,
}

impl Cores {
    /// One after the other.
    pub const ONE: Cores = Cores { count: 1, piece: Cores::PIECE };

    /// Enough for a millisecond, little enough for its text to be kept.
    const PIECE: usize = 64 << 10;

    /// So many cores.
    pub fn new(count: usize) -> Cores {
        Cores { count: count.clamp(1, 64), piece: Cores::PIECE }
    }

    /// All that this process may run on.
    pub fn all() -> Cores {
        Cores::new(thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Bytes of text, for all workers together, above which a stretch is left to the lane's own decoder.
const MOST_TEXT: usize = 96 << 20;

/// Items of a stretch above which it is left to the lane's own decoder.
const MOST_ITEMS: usize = 1 << 16;

/// An item with what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told {
    pub(crate) item: Item,
    pub(crate) moment: Moment,
    pub(crate) estimate: Option<Tsc>,
}

impl Told {
    /// The last item of a decoder.
    pub(crate) fn of(item: Item, decoder: &Decoder<'_>) -> Told {
        Told { item, moment: decoder.moment(), estimate: decoder.estimate() }
    }
}

/// What a worker made of a stretch.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    /// The text of the code that ran.
    pub(crate) text: Vec<u8>,
    /// Other items, with the length of the text before each, and the time of that text.
    pub(crate) items: Vec<(usize, Option<Tsc>, Told)>,
    /// The time of the last text.
    pub(crate) latest: Option<Tsc>,
    /// Where the worker arrived; `None` if it gave up.
    end: Option<Checkpoint>,
    instructions: u64,
    /// Instructions since the time was told in this stretch.
    since: Option<u64>,
}

/// What is the same for all workers while they work.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) written: Option<&'m Written>,
    pub(crate) plan: &'m Plan,
    pub(crate) limit: Option<Tsc>,
}

impl<'m> Shared<'m> {
    pub(crate) fn code(&self) -> ThreadCode<'m> {
        ThreadCode { machine: self.machine, images: self.images, thread: self.thread }
    }
}

/// A decoder with what its blocks look like, and what it made last.
struct Worker<'t> {
    decoder: Decoder<'t>,
    texts: BlockTexts,
    portion: Portion,
}

/// Up to where the trace is decoded for certain.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) at: Checkpoint,
    pub(crate) instructions: u64,
    /// Instructions since the time was told.
    pub(crate) since: u64,
}

impl Progress {
    /// Takes a stretch over, if it was decoded up to `end` as foretold.
    fn accept(&mut self, portion: &Portion, end: Checkpoint) -> bool {
        let arrived = portion.end.as_ref() == Some(&end);
        if arrived {
            self.instructions += portion.instructions;
            self.since = portion.since.unwrap_or(self.since + portion.instructions);
            self.at = end;
        }
        arrived
    }
}

/// The workers.
#[derive(Default)]
pub(crate) struct Crew<'t> {
    workers: Vec<Worker<'t>>,
    piece: usize,
}

impl<'t> Crew<'t> {
    /// Workers for each core, or none where there is one core only.
    pub(crate) fn new(cores: Cores, plan: &Plan, wanted: Wanted) -> Crew<'t> {
        let worker = || Worker {
            decoder: Decoder::new(plan.config, wanted),
            texts: BlockTexts::default(),
            portion: Portion::default(),
        };
        let count = if cores.count > 1 { cores.count } else { 0 };
        Crew { workers: (0..count).map(|_| worker()).collect(), piece: cores.piece }
    }

    /// Where the lane's own decoder should stop, for the trace behind it to be shared out.
    pub(crate) fn next_stop(&self, decoder: &Decoder<'t>, from: u64) -> Option<u64> {
        if self.workers.is_empty() {
            return None;
        }
        let Stretch { bytes, offset, .. } = decoder.left();
        let end = offset + bytes.len() as u64;
        decoder.next_sync(from.max(offset)).filter(|stop| end - stop >= 2 * self.piece as u64)
    }

    /// The ends of the next stretches, one for each worker as far as there are so many.
    pub(crate) fn next_ends(&self, from: u64, scout: &mut Scout<'t>) -> Vec<Checkpoint> {
        let (mut last, piece) = (from, self.piece as u64);
        let mut ends = Vec::new();
        while ends.len() < self.workers.len() {
            let Some(end) = scout.find(|found| found.offset() - last >= piece) else { break };
            last = end.offset();
            ends.push(end);
        }
        ends
    }

    /// Decodes the stretches up to each of `ends`, all at once; `trace` begins at the first.
    pub(crate) fn decode(
        &mut self,
        start: &Checkpoint,
        ends: &[Checkpoint],
        trace: Stretch<'t>,
        shared: Shared<'_>,
    ) {
        let most = MOST_TEXT / self.workers.len().max(1);
        let starts = [start].into_iter().chain(ends);
        thread::scope(|scope| {
            for ((worker, start), end) in self.workers.iter_mut().zip(starts).zip(ends) {
                let skipped = usize::try_from(start.offset() - trace.offset).unwrap_or(usize::MAX);
                let bytes = trace.bytes.get(skipped..).unwrap_or_default();
                let stretch = Stretch { bytes, offset: start.offset(), ..trace };
                worker.portion.end = None;
                let work = move || worker.decode(start, end.offset(), stretch, shared, most);
                // What no thread can be had for is not accepted, and decoded later.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
        });
    }

    /// What was made of the stretches up to each of `ends`, as far as it is certain, in order.
    pub(crate) fn accepted<'c>(
        &'c self,
        ends: Vec<Checkpoint>,
        progress: &'c mut Progress,
    ) -> impl Iterator<Item = (&'c Portion, u64)> {
        let portions = self.workers.iter().map(|worker| &worker.portion);
        portions.zip(ends).map_while(move |(portion, end)| {
            let before = progress.instructions;
            progress.accept(portion, end).then_some((portion, before))
        })
    }
}

impl<'t> Worker<'t> {
    /// Decodes from a checkpoint to the place `stop`.
    fn decode(
        &mut self,
        start: &Checkpoint,
        stop: u64,
        stretch: Stretch<'t>,
        shared: Shared<'_>,
        most: usize,
    ) {
        let Worker { decoder, texts, portion } = self;
        portion.text.clear();
        portion.items.clear();
        (portion.latest, portion.end) = (None, None);
        let mut code = shared.code();
        decoder.resume(start, stretch, &code);
        decoder.set_limit(shared.limit);
        decoder.set_stop(Some(stop));
        loop {
            match decoder.next(&mut code) {
                Item::Run => {
                    let Some(written) = shared.written else { continue };
                    let (moment, before) = (decoder.moment(), decoder.run().before);
                    if moment.mode.guest_toggled {
                        // A branch into another world is two samples: that is left to the lane's own decoder.
                        return;
                    }
                    portion.latest = portion.latest.max(before).max(moment.time);
                    texts.write_run(written, decoder, state_flags(&moment, shared.plan), &mut portion.text);
                }
                Item::Pause => {
                    portion.end = decoder.checkpoint();
                    (portion.instructions, portion.since) = decoder.counted();
                    return;
                }
                Item::End => return,
                _ if !decoder.estimate_is_known() => return,
                item => {
                    portion.items.push((portion.text.len(), portion.latest.take(), Told::of(item, decoder)))
                }
            }
            if portion.text.len() > most || portion.items.len() > MOST_ITEMS {
                return;
            }
        }
    }
}
