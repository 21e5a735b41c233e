//! One of those who decode: a decoder that goes on wherever it is told to.

use intel_pt::{Choices, Decoder, EmitOptions, Item, Period, QuickMode, TraceChunk, Tsc};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::SampleFlags;

use super::chunk_output::{Portion, What};
use super::instruction_counts::{Before, Counts};
use super::work_queue::{Desk, Task};
use crate::code::{Images, ThreadCode};
use crate::decoded::{Earlier, Stamp, Told};
use crate::plan::Plan;
use crate::select::{BlockTexts, Heads, Scribe, Taker, Taking, state_flags};
use crate::stack::{Followed, Moves};

/// Bytes of a stretch above which it is left to the lane's own decoder.
const MOST: usize = 24 << 20;

/// What is the same for all workers while they work.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) scribe: Option<Scribe<'m>>,
    pub(crate) taking: &'m Taking,
    pub(crate) limit: Option<Tsc>,
}

/// A decoder with what its blocks look like.
pub(super) struct Worker<'t> {
    decoder: Decoder<'t>,
    wanted: EmitOptions,
    texts: BlockTexts,
    heads: Heads,
    taker: Taker,
    moves: Moves,
}

impl<'t> Worker<'t> {
    pub(super) fn new(plan: &Plan, wanted: EmitOptions) -> Worker<'t> {
        Worker {
            decoder: Decoder::new(plan.config, wanted),
            wanted,
            texts: BlockTexts::default(),
            heads: Heads::default(),
            taker: Taker::default(),
            moves: Moves::default(),
        }
    }

    /// Decodes what is on the desk; `trace` begins where the first stretch does.
    pub(super) fn work(&mut self, desk: &Desk<'t>, trace: TraceChunk<'t>, shared: Shared<'_>) {
        while let Some(mut portion) = desk.wait_for_room() {
            let Some(mut task) = desk.take_task() else {
                return desk.leave_room(portion);
            };
            let skipped = usize::try_from(task.start.offset() - trace.offset).unwrap_or(usize::MAX);
            let bytes = trace.bytes.get(skipped..).unwrap_or_default();
            portion.clear();
            self.moves.clear();
            self.heads.begin();
            let stretch = TraceChunk { bytes, ..trace };
            if self.is_by_number() {
                self.decode_by_number(&desk.counts, &mut task, stretch, shared, &mut portion);
            } else {
                self.decode(&task, stretch, shared, &mut portion);
            }
            portion.heads = (self.heads.first(), self.heads.written());
            portion.settle(&mut self.moves);
            desk.put(task, portion);
        }
    }

    /// Whether it has to be known how many instructions ran before a stretch.
    fn is_by_number(&self) -> bool {
        let by_number =
            matches!(self.wanted.period, Some(Period::Instructions(period)) if period > 1);
        by_number && self.wanted.quick == QuickMode::Walk
    }

    /// Decodes a stretch behind as many instructions as others tell of. Till they do it counts those of its own stretch,
    /// for whoever waits for that.
    fn decode_by_number(
        &mut self,
        counts: &Counts,
        task: &mut Task,
        stretch: TraceChunk<'t>,
        shared: Shared<'_>,
        portion: &mut Portion,
    ) {
        let (number, mut before) = (task.number, counts.before(task.number));
        let is_counted = !matches!(before, Some(Before::Known(_)));
        if is_counted {
            counts.tell(number, self.count(task, stretch, shared));
            before = Some(counts.wait(number));
        }
        if let Some(Before::Known(instructions)) = before {
            task.start = task.start.clone().behind(instructions);
            self.decode(task, stretch, shared, portion);
        }
        if !is_counted {
            counts.tell(
                number,
                portion.end.is_some().then_some(portion.instructions),
            );
        }
    }

    /// Counts the instructions of a stretch; `None` where that is left to the lane's own decoder.
    fn count(&mut self, task: &Task, stretch: TraceChunk<'t>, shared: Shared<'_>) -> Option<u64> {
        self.decoder.set_emit_options(EmitOptions {
            quick: self.wanted.quick,
            ..EmitOptions::default()
        });
        let mut code = self.resume(task, stretch, shared);
        let mut end = self.decoder.next(&mut code);
        while !matches!(end, Item::Pause | Item::End) {
            end = self.decoder.next(&mut code);
        }
        self.decoder.set_emit_options(self.wanted);
        self.decoder
            .checkpoint()
            .filter(|_| end == Item::Pause)
            .map(|_| self.decoder.counted().0)
    }

    /// Has the decoder go on where a stretch begins.
    fn resume<'m>(
        &mut self,
        task: &Task,
        stretch: TraceChunk<'t>,
        shared: Shared<'m>,
    ) -> ThreadCode<'m> {
        let Shared {
            machine,
            images,
            thread,
            ..
        } = shared;
        let code = ThreadCode {
            machine,
            images,
            thread,
        };
        self.decoder.resume(&task.start, stretch, &code);
        self.decoder.set_limit(shared.limit);
        self.decoder.set_stop(Some(task.end.offset()));
        code
    }

    /// Decodes a stretch.
    fn decode(
        &mut self,
        task: &Task,
        stretch: TraceChunk<'t>,
        shared: Shared<'_>,
        portion: &mut Portion,
    ) {
        let mut code = self.resume(task, stretch, shared);
        loop {
            match self.decoder.next(&mut code) {
                Item::Path => {
                    if !self.take_run(shared, portion) {
                        return;
                    }
                }
                Item::Pause => {
                    portion.end = self.decoder.checkpoint();
                    portion.leeway = self.decoder.leeway();
                    (portion.instructions, portion.since) = self.decoder.counted();
                    portion.last = self
                        .decoder
                        .has_run()
                        .then(|| self.decoder.last_instruction());
                    return;
                }
                Item::End => return,
                Item::Address { ip } => self.take_address(ip, shared, portion),
                item => {
                    let told = Told::of(item, &self.decoder);
                    let entered = told.enters_user_at(&Earlier::default());
                    if shared.limit.is_some_and(|limit| entered >= Some(limit)) {
                        // Its turn comes behind the limit.
                        return;
                    }
                    match told.stamp(&Earlier::default()) {
                        Stamp::Exactly(_)
                            if shared.scribe.is_some() && told.is_stamped_before() =>
                        {
                            return;
                        }
                        Stamp::Exactly(time) => self.heads.set_timestamp(time.0),
                        Stamp::AtLeast(time) => self.heads.pass_to(time),
                    }
                    portion.tell(What::Told(Box::new(told)), &mut self.moves);
                }
            }
            if portion.size() > MOST || self.moves.are_too_many() {
                return;
            }
        }
    }

    /// Takes an instruction that a packet names.
    fn take_address(&mut self, ip: u64, shared: Shared<'_>, portion: &mut Portion) {
        let (moment, taking) = (self.decoder.moment(), shared.taking);
        portion.pass_to(moment.time);
        self.heads.pass_to(moment.time);
        match &shared.scribe {
            Some(scribe) => {
                let state = state_flags(&moment, &taking.plan);
                let epoch = self.decoder.epoch();
                self.texts.write_address(
                    scribe,
                    (ip, &moment, state),
                    epoch,
                    &mut self.heads,
                    portion.text.open(),
                );
            }
            None => {
                let point = taking.address(ip, SampleFlags::default(), &moment);
                portion.tell(What::Instruction(point, Choices::ALL), &mut self.moves);
            }
        }
    }

    /// Takes what is asked for of a run; false if that is left to the lane's own decoder.
    fn take_run(&mut self, shared: Shared<'_>, portion: &mut Portion) -> bool {
        let Worker {
            decoder,
            texts,
            heads,
            taker,
            moves,
            ..
        } = self;
        let (moment, taking) = (decoder.moment(), shared.taking);
        if let Some(scribe) = &shared.scribe {
            if moment.mode.guest_toggled {
                // A branch into another world is two samples.
                return false;
            }
            portion.pass_to(decoder.time_and_length().0);
            let state = state_flags(&moment, &taking.plan);
            texts.write_run(
                scribe,
                decoder,
                (&moment, state),
                heads,
                portion.text.open(),
            );
        } else if taking.follows_calls_alone(decoder) {
            moves.happen();
            taker.follow_calls(decoder, moves);
        } else {
            for taken in taker.take(taking, decoder) {
                portion.pass_to(taken.time);
                if let Some(choices) = taken.marked {
                    portion.tell(What::Instruction(taken.point, choices), moves);
                }
                if taken.branched {
                    if taking.followed != Followed::default() {
                        moves.step(&taken.point.step(0), taking.followed);
                    }
                    if taking
                        .sampled
                        .is_some_and(|filter| filter.takes(taken.point.flags))
                    {
                        portion.tell(What::Branch(taken.point), moves);
                    }
                }
            }
        }
        portion.pass_to(moment.time);
        true
    }
}
