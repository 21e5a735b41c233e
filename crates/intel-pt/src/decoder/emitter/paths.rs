//! Items of code that ran: their time, and the instructions to sample.

use super::Emitter;
use crate::item::{Cycles, Item, Tsc};
use crate::path::{Mark, Path};
use crate::time::Choices;

/// Instructions by which a sample may be nearer than it seems.
const NEAR: u64 = 256;

/// The path that was closed last.
#[derive(Debug, Default)]
pub(super) struct PathSummary {
    instructions: u64,
    marks: Vec<Mark>,
    before: Option<Tsc>,
    cycles_before: Cycles,
    /// Room for [`Emitter::mark`].
    pieces: Vec<u64>,
    sampled: Vec<(u64, Choices)>,
}

impl Emitter<'_> {
    /// Queues the path behind the items before it.
    #[inline]
    pub(in crate::decoder) fn queue_path(&mut self) {
        if self.walker.is_path_empty() {
            return;
        }
        let decided = self.walker.decision().is_some();
        let taken = self.walker.first_is_taken();
        let count = self.walker.path_count();
        if let Some(item) = self.close_path(count, decided, taken) {
            self.emit(item);
        }
    }

    /// Closes the path of so many instructions. Gives the item, if it is wanted.
    #[inline(always)]
    pub(in crate::decoder) fn close_path(
        &mut self,
        count: u64,
        decided: bool,
        taken: bool,
    ) -> Option<Item> {
        self.path.instructions = count;
        self.path.before = self.decided;
        self.path.cycles_before = self.cycles;
        if self.options.period.is_some() {
            self.mark(count);
        }
        self.instructions += count;
        if decided {
            self.decided = self.trace().clock().time();
            self.count_cycles(taken || !self.path.marks.is_empty() && self.samples_decision());
        }
        if !self.options.paths && self.path.marks.is_empty() {
            return None;
        }
        self.walker.complete_next_ip();
        Some(Item::Path)
    }

    /// True if the first deciding instruction is sampled.
    fn samples_decision(&self) -> bool {
        let Some(visit) = self.walker.deciding_visit() else {
            return false;
        };
        let executed = self.walker.executed(visit);
        let is_last = |mark: &Mark| executed == Some(mark.instruction + 1);
        let mut marks = self.path.marks.iter();
        marks.any(|mark| mark.visit as usize == visit && is_last(mark))
    }

    /// Chooses the instructions of the path that are to be sampled.
    fn mark(&mut self, count: u64) {
        self.path.marks.clear();
        let clock = self.walker.trace().clock();
        let now = clock.time().map_or(0, |time| time.0);
        let start = now.wrapping_add(clock.since(self.instructions));
        let reach = if clock.has_changed() {
            count
        } else {
            count + NEAR
        };
        if self.samplers.are_quiet(start, reach) {
            return;
        }
        let distance = self.samplers.distance(start);
        self.hurried |= reach != count && distance <= reach;
        if distance > count {
            return self.samplers.pass(start, count);
        }
        let (pieces, sampled) = (&mut self.path.pieces, &mut self.path.sampled);
        self.walker.list_pieces(pieces);
        sampled.clear();
        self.samplers.sample(start, pieces, count, sampled);
        let mut finder = InstructionFinder::default();
        for &(number, choices) in &*sampled {
            let mark = finder.find(number, choices, |visit| self.walker.executed(visit));
            self.path.marks.push(mark);
        }
    }

    /// The instructions of the path to sample.
    #[inline]
    pub(in crate::decoder) fn marks(&self) -> &[Mark] {
        &self.path.marks
    }

    /// The time before the first deciding instruction of the path, and its number of instructions.
    #[inline]
    pub(in crate::decoder) fn time_and_length(&self) -> (Option<Tsc>, u64) {
        (self.path.before, self.path.instructions)
    }

    /// The path that was closed last.
    pub(in crate::decoder) fn path(&self) -> Path<'_> {
        Path {
            visits: self.walker.visits(),
            partial: self.walker.partial(),
            next: self.walker.next_ip(),
            end: self.walker.ends_tracing(),
            marks: &self.path.marks,
            before: self.path.before,
            instructions: self.path.instructions,
            decision: self.walker.decision(),
            cycles_before: self.path.cycles_before,
        }
    }

    /// Instructions that may have run since the time was known, before decoding was resumed, without any difference to
    /// the items since.
    pub(in crate::decoder) fn leeway(&self) -> u64 {
        match (self.samplers.go_by_time(), self.hurried) {
            (false, _) => u64::MAX,
            (true, true) => 0,
            (true, false) => NEAR,
        }
    }
}

/// Finds instructions of a path by their number, in order.
#[derive(Default)]
struct InstructionFinder {
    visit: usize,
    /// Instructions of the visits before.
    before: u64,
}

impl InstructionFinder {
    /// The place of instruction `number`, counted from 1.
    fn find(
        &mut self,
        number: u64,
        choices: Choices,
        executed: impl Fn(usize) -> Option<u32>,
    ) -> Mark {
        while let Some(count) = executed(self.visit) {
            if number <= self.before + u64::from(count) {
                break;
            }
            self.before += u64::from(count);
            self.visit += 1;
        }
        let instruction = (number - self.before - 1) as u32;
        Mark {
            visit: self.visit as u32,
            instruction,
            choices,
        }
    }
}
