//! One of those who decode: a decoder that goes on wherever it is told to.

use intel_pt::{Checkpoint, Decoder, Item, Located, Stretch, Tsc, Wanted};
use oxperf_machine::{Machine, ThreadId};

use super::desk::{Desk, Task};
use super::told::{Earlier, Told};
use crate::code::{Images, ThreadCode};
use crate::plan::Plan;
use crate::synth::{BlockTexts, Written, state_flags};

/// Bytes of text and items of a stretch above which it is left to the lane's own decoder.
const MOST_TEXT: usize = 24 << 20;
const MOST_ITEMS: usize = 1 << 16;

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
    pub(super) end: Option<Checkpoint>,
    pub(super) instructions: u64,
    /// Instructions since the time was told in this stretch.
    pub(super) since: Option<u64>,
    /// The instruction that ran last in this stretch.
    pub(super) last: Option<Option<Located>>,
}

impl Portion {
    /// Bytes that are kept.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.items.len() * size_of::<(usize, Option<Tsc>, Told)>()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.items.clear();
        (self.latest, self.end) = (None, None);
    }
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

/// A decoder with what its blocks look like.
pub(super) struct Worker<'t> {
    decoder: Decoder<'t>,
    texts: BlockTexts,
}

impl<'t> Worker<'t> {
    pub(super) fn new(plan: &Plan, wanted: Wanted) -> Worker<'t> {
        Worker { decoder: Decoder::new(plan.config, wanted), texts: BlockTexts::default() }
    }

    /// Decodes what is on the desk; `trace` begins where the first stretch does.
    pub(super) fn work(&mut self, desk: &Desk<'t>, trace: Stretch<'t>, shared: Shared<'_>) {
        while let Some(mut portion) = desk.wait_for_room() {
            let Some(task) = desk.take_task() else { return desk.leave_room(portion) };
            let skipped = usize::try_from(task.start.offset() - trace.offset).unwrap_or(usize::MAX);
            let bytes = trace.bytes.get(skipped..).unwrap_or_default();
            portion.clear();
            self.decode(&task, Stretch { bytes, ..trace }, shared, &mut portion);
            desk.put(task.number, portion, task.end);
        }
    }

    /// Decodes a stretch.
    fn decode(&mut self, task: &Task, stretch: Stretch<'t>, shared: Shared<'_>, portion: &mut Portion) {
        let Worker { decoder, texts } = self;
        let Shared { machine, images, thread, .. } = shared;
        let mut code = ThreadCode { machine, images, thread };
        decoder.resume(&task.start, stretch, &code);
        decoder.set_limit(shared.limit);
        decoder.set_stop(Some(task.end.offset()));
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
                    portion.last = decoder.has_run().then(|| decoder.last_instruction());
                    return;
                }
                Item::End => return,
                item => {
                    let told = Told::of(item, decoder);
                    let entered = told.enters_user_at(&Earlier::default());
                    if shared.limit.is_some_and(|limit| entered >= Some(limit)) {
                        // Its turn comes behind the limit.
                        return;
                    }
                    portion.items.push((portion.text.len(), portion.latest.take(), told));
                }
            }
            if portion.text.len() > MOST_TEXT || portion.items.len() > MOST_ITEMS {
                return;
            }
        }
    }
}
