//! What a worker made of a stretch: text, and what is to be told between it.

use intel_pt::{Checkpoint, Choices, Located, Tsc};

use super::text_pages::{Mark, Pages};
use crate::decoded::Told;
use crate::select::Point;
use crate::stack::{Move, Moves};

/// What a worker made of a stretch.
#[derive(Debug, Default)]
pub(crate) struct Portion {
    /// The text of the code that ran.
    pub(crate) text: Pages,
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
    /// The latest TSC where the text begins, and the number of the instruction that was written last: see [`Heads`].
    pub(super) heads: (Option<u64>, u64),
}

/// Something that a worker tells.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Where in the portion's text it stands.
    pub(crate) text: Mark,
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

    /// Whether the text fits what comes before it: time went on since the latest TSC there, and the instruction that was
    /// written last is the one that ran last.
    pub(crate) fn fits(&self, timestamp: u64, written: u64, ran: u64) -> bool {
        self.heads.0.is_none_or(|first| timestamp <= first)
            && self.written().is_none_or(|_| written == ran)
    }

    /// The number of the instruction that was written last, if there was one.
    pub(crate) fn written(&self) -> Option<u64> {
        (self.heads.1 != 0).then_some(self.heads.1)
    }

    /// Bytes that are kept.
    pub(super) fn size(&self) -> usize {
        self.text.len()
            + self.entries.len() * size_of::<Entry>()
            + self.moves.len() * size_of::<Move>()
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
        self.moves.clear();
        (self.tells, self.latest, self.end, self.heads) = (false, None, None, (None, 0));
    }

    /// Takes a time stamp.
    pub(super) fn pass_to(&mut self, time: Option<Tsc>) {
        self.latest = self.latest.max(time);
    }

    /// Tells something, behind what stacks went through before it.
    pub(super) fn tell(&mut self, what: What, moves: &mut Moves) {
        self.tells = true;
        self.settle(moves);
        self.push(what);
    }

    pub(super) fn settle(&mut self, moves: &mut Moves) {
        if moves.hand_over(&mut self.moves) {
            self.push(What::Moves(self.moves.len()));
        }
    }

    fn push(&mut self, what: What) {
        self.entries.push(Entry {
            text: self.text.end(),
            latest: self.latest.take(),
            what,
        });
    }
}
