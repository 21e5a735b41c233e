//! One of those who decode: a decoder that goes on wherever it is told to.

use intel_pt::{Checkpoint, Choices, Decoder, Item, Located, Stretch, Tsc, Wanted};
use oxperf_machine::{Machine, ThreadId};

use super::desk::{Desk, Task};
use super::told::{Earlier, Told};
use crate::code::{Images, ThreadCode};
use crate::plan::Plan;
use crate::stack::{Followed, Move, Moves};
use crate::synth::{BlockTexts, Point, Taker, Taking, Written, state_flags};

/// Bytes of a stretch above which it is left to the lane's own decoder.
const MOST: usize = 24 << 20;

/// What a worker made of a stretch.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    /// The text of the code that ran.
    pub(crate) text: Vec<u8>,
    /// What else is to be told, in order.
    pub(crate) entries: Vec<Entry>,
    /// What stacks of calls and branches go through, see [`What::Moves`].
    pub(crate) moves: Vec<Move>,
    /// Whether anything must wait till the workers rest.
    tells: bool,
    /// The time of what comes behind the last entry.
    pub(crate) latest: Option<Tsc>,
    /// Where the worker arrived; `None` if it gave up.
    pub(super) end: Option<Checkpoint>,
    /// So many instructions may have run since the time was told before the stretch.
    pub(super) leeway: u64,
    pub(super) instructions: u64,
    /// Instructions since the time was told in this stretch.
    pub(super) since: Option<u64>,
    /// The instruction that ran last in this stretch.
    pub(super) last: Option<Option<Located>>,
}

/// Something that a worker tells.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Bytes of the portion's text that stand before it.
    pub(crate) text: usize,
    /// The time that was reached before it and since the last one.
    pub(crate) latest: Option<Tsc>,
    pub(crate) what: What,
}

/// What it is.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// An item that is no run.
    Told(Box<Told>),
    /// An instruction to sample, if one of these choices is the right one.
    Instruction(Point, Choices),
    /// A branch to sample; stacks have followed it.
    Branch(Point),
    /// Stacks go on up to this place in the portion's moves.
    Moves(usize),
}

impl Portion {
    /// Whether something must wait till the workers rest.
    pub(crate) fn tells(&self) -> bool {
        self.tells
    }

    /// Bytes that are kept.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.entries.len() * size_of::<Entry>() + self.moves.len() * size_of::<Move>()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
        self.moves.clear();
        (self.tells, self.latest, self.end) = (false, None, None);
    }

    /// Takes a time stamp.
    fn pass_to(&mut self, time: Option<Tsc>) {
        self.latest = self.latest.max(time);
    }

    /// Tells something, behind what stacks went through before it.
    fn tell(&mut self, what: What, moves: &mut Moves) {
        self.tells = true;
        self.settle(moves);
        self.push(what);
    }

    fn settle(&mut self, moves: &mut Moves) {
        if moves.hand_over(&mut self.moves) {
            self.push(What::Moves(self.moves.len()));
        }
    }

    fn push(&mut self, what: What) {
        self.entries.push(Entry { text: self.text.len(), latest: self.latest.take(), what });
    }
}

/// What is the same for all workers while they work.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'m> {
    pub(crate) machine: &'m Machine,
    pub(crate) images: &'m Images,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) written: Option<&'m Written>,
    pub(crate) taking: &'m Taking,
    pub(crate) limit: Option<Tsc>,
}

/// A decoder with what its blocks look like.
pub(super) struct Worker<'t> {
    decoder: Decoder<'t>,
    texts: BlockTexts,
    taker: Taker,
    moves: Moves,
}

impl<'t> Worker<'t> {
    pub(super) fn new(plan: &Plan, wanted: Wanted) -> Worker<'t> {
        let decoder = Decoder::new(plan.config, wanted);
        Worker { decoder, texts: BlockTexts::default(), taker: Taker::default(), moves: Moves::default() }
    }

    /// Decodes what is on the desk; `trace` begins where the first stretch does.
    pub(super) fn work(&mut self, desk: &Desk<'t>, trace: Stretch<'t>, shared: Shared<'_>) {
        while let Some(mut portion) = desk.wait_for_room() {
            let Some(task) = desk.take_task() else { return desk.leave_room(portion) };
            let skipped = usize::try_from(task.start.offset() - trace.offset).unwrap_or(usize::MAX);
            let bytes = trace.bytes.get(skipped..).unwrap_or_default();
            portion.clear();
            self.moves.clear();
            self.decode(&task, Stretch { bytes, ..trace }, shared, &mut portion);
            portion.settle(&mut self.moves);
            desk.put(task, portion);
        }
    }

    /// Decodes a stretch.
    fn decode(&mut self, task: &Task, stretch: Stretch<'t>, shared: Shared<'_>, portion: &mut Portion) {
        let Shared { machine, images, thread, .. } = shared;
        let mut code = ThreadCode { machine, images, thread };
        self.decoder.resume(&task.start, stretch, &code);
        self.decoder.set_limit(shared.limit);
        self.decoder.set_stop(Some(task.end.offset()));
        loop {
            match self.decoder.next(&mut code) {
                Item::Run => {
                    if !self.take_run(shared, portion) {
                        return;
                    }
                }
                Item::Pause => {
                    portion.end = self.decoder.checkpoint();
                    portion.leeway = self.decoder.leeway();
                    (portion.instructions, portion.since) = self.decoder.counted();
                    portion.last = self.decoder.has_run().then(|| self.decoder.last_instruction());
                    return;
                }
                Item::End => return,
                item => {
                    let told = Told::of(item, &self.decoder);
                    let entered = told.enters_user_at(&Earlier::default());
                    if shared.limit.is_some_and(|limit| entered >= Some(limit)) {
                        // Its turn comes behind the limit.
                        return;
                    }
                    portion.tell(What::Told(Box::new(told)), &mut self.moves);
                }
            }
            if portion.size() > MOST || self.moves.are_too_many() {
                return;
            }
        }
    }

    /// Takes what is asked for of a run; false if that is left to the lane's own decoder.
    fn take_run(&mut self, shared: Shared<'_>, portion: &mut Portion) -> bool {
        let Worker { decoder, texts, taker, moves } = self;
        let (moment, taking) = (decoder.moment(), shared.taking);
        if let Some(written) = shared.written {
            if moment.mode.guest_toggled {
                // A branch into another world is two samples.
                return false;
            }
            portion.pass_to(decoder.run().before);
            texts.write_run(written, decoder, state_flags(&moment, &taking.plan), &mut portion.text);
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
                    if taking.sampled.is_some_and(|filter| filter.takes(taken.point.flags)) {
                        portion.tell(What::Branch(taken.point), moves);
                    }
                }
            }
        }
        portion.pass_to(moment.time);
        true
    }
}
