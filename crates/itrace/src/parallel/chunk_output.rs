//! The output of a worker for a chunk: text, and between it items and samples to be made.

use intel_pt::{Checkpoint, Choices, Located, Tsc};

use super::text_pages::{TextPages, TextPosition};
use crate::decoded::DecodedItem;
use crate::select::{FirstLine, Point};
use crate::stack::{StackChange, StackChanges};

/// The output of a worker for a chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkOutput {
    /// The text of the code that ran.
    pub(crate) text: TextPages,
    /// Everything else, in order.
    pub(crate) entries: Vec<OutputEntry>,
    /// The changes of stacks of calls and branches, see [`OutputKind::StackChanges`].
    pub(crate) changes: Vec<StackChange>,
    /// An entry has to wait till the workers rest.
    has_items: bool,
    /// The time behind the last entry.
    pub(crate) latest: Option<Tsc>,
    /// The state in which the worker arrived at the chunk's end; `None` if it gave up.
    pub(super) arrival: Option<Arrival>,
    /// The time of the first line of the text.
    pub(super) first_line: FirstLine,
    /// The number in the chunk of the instruction that was written last, if there was one.
    pub(super) written: Option<u64>,
}

/// The state of a worker at the end of a chunk.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) end: Checkpoint,
    /// Instructions that may have run at most since the last time stamp before the chunk.
    pub(super) leeway: u64,
    pub(super) instructions: u64,
    /// Instructions since the last time stamp in this chunk, if there is one.
    pub(super) since: Option<u64>,
    /// The instruction that ran last in this chunk; the outer `None` where none ran.
    pub(super) last: Option<Option<Located>>,
}

/// A part of the output that is no text.
#[derive(Clone, Debug)]
pub(crate) struct OutputEntry {
    /// Its position in the text.
    pub(crate) text: TextPosition,
    /// The time that was reached before it and since the last one.
    pub(crate) latest: Option<Tsc>,
    pub(crate) kind: OutputKind,
}

/// The kind of an entry.
#[derive(Clone, Debug)]
pub(crate) enum OutputKind {
    /// An item that is no path.
    Item(Box<DecodedItem>),
    /// An instruction to sample, if one of these choices is the right one.
    Instruction(Point, Choices),
    /// A branch to sample; stacks have followed it.
    Branch(Point),
    /// Stacks go on up to this end of the output's changes.
    StackChanges(usize),
}

impl ChunkOutput {
    /// True when an entry has to wait till the workers rest.
    pub(crate) fn has_items(&self) -> bool {
        self.has_items
    }

    /// True when the text fits behind that of the chunks before it: time went on since `timestamp`, and the instruction
    /// that was written last is the one that ran last.
    pub(crate) fn fits(&self, timestamp: u64, written: u64, ran: u64) -> bool {
        self.first_line.fits_behind(timestamp) && self.written.is_none_or(|_| written == ran)
    }

    /// The number in the chunk of the instruction that was written last, if there was one.
    pub(crate) fn written(&self) -> Option<u64> {
        self.written
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.text.len()
            + self.entries.len() * size_of::<OutputEntry>()
            + self.changes.len() * size_of::<StackChange>()
    }

    /// Begins anew in the same memory.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
        self.changes.clear();
        self.has_items = false;
        (self.latest, self.arrival) = (None, None);
        (self.first_line, self.written) = (FirstLine::None, None);
    }

    /// Takes a time stamp.
    pub(super) fn advance_to(&mut self, time: Option<Tsc>) {
        self.latest = self.latest.max(time);
    }

    /// Adds an entry, behind the changes of stacks before it.
    pub(super) fn add(&mut self, kind: OutputKind, changes: &mut StackChanges) {
        self.has_items = true;
        self.settle(changes);
        self.push(kind);
    }

    /// Adds the changes of stacks so far.
    pub(super) fn settle(&mut self, changes: &mut StackChanges) {
        if changes.hand_over(&mut self.changes) {
            self.push(OutputKind::StackChanges(self.changes.len()));
        }
    }

    fn push(&mut self, kind: OutputKind) {
        self.entries.push(OutputEntry {
            text: self.text.end(),
            latest: self.latest.take(),
            kind,
        });
    }
}
