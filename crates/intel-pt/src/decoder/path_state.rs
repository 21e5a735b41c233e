//! The run that is told next: its visits, its time, and its samples.

use super::Decoder;
use crate::graph::End;
use crate::item::{Cycles, Item, Tsc};
use crate::path::{BlockVisit, Mark};
use crate::time::Choices;

/// Where the visits of the run are.
#[derive(Clone, Copy, Debug, Default)]
enum Visits {
    /// Nothing ran yet.
    #[default]
    None,
    /// In `PathState::visits`.
    Walked,
    /// With the remembered ways.
    Remembered((u32, u16)),
}

/// The run.
#[derive(Debug, Default)]
pub(super) struct PathState {
    place: Visits,
    /// Visits of a walk, in order.
    pub(super) visits: Vec<BlockVisit>,
    /// Visits at its beginning that decide nothing, whatever they end with.
    pub(super) undecided: usize,
    /// Instructions of the walk so far.
    pub(super) count: u64,
    pub(super) partial: Option<u32>,
    /// The instruction behind the last one did not fit the trace.
    pub(super) refused: bool,
    pub(super) next: Option<u64>,
    pub(super) end: bool,
    pub(super) marks: Vec<Mark>,
    /// Room for [`Decoder::mark`].
    pieces: Vec<u64>,
    sampled: Vec<(u64, Choices)>,
    pub(super) before: Option<Tsc>,
    pub(super) cycles_before: Cycles,
    pub(super) instructions: u64,
    /// The payload of the last CBR packet.
    pub(super) cbr_payload: u16,
}

impl PathState {
    /// Whether anything ran.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.place, Visits::None)
    }

    /// What ran last is not known.
    pub(super) fn forget(&mut self) {
        self.start();
        self.place = Visits::None;
    }

    /// A walk begins.
    #[inline]
    pub(super) fn start(&mut self) {
        self.place = Visits::Walked;
        self.visits.clear();
        self.undecided = 0;
        self.count = 0;
        self.partial = None;
        self.refused = false;
        self.next = None;
        self.end = false;
    }
}

impl Decoder<'_> {
    /// The visits of the run.
    pub(super) fn run_visits(&self) -> &[BlockVisit] {
        match self.run.place {
            Visits::None => &[],
            Visits::Walked => &self.run.visits,
            Visits::Remembered(place) => self.graph.tnt_cache.visits(place),
        }
    }

    /// Closes the walk. Gives the item, if it is wanted.
    pub(super) fn close_walk(&mut self) -> Option<Item> {
        let decided = self.decision().is_some();
        let taken = self.run.visits.first().is_some_and(|visit| visit.taken());
        let count = self.run.count;
        self.close_run(count, decided, taken)
    }

    /// Closes a remembered way.
    #[inline]
    pub(super) fn close_way(&mut self, place: (u32, u16), count: u64, taken: bool) -> Option<Item> {
        self.run.place = Visits::Remembered(place);
        self.run.undecided = 0;
        self.run.partial = None;
        self.run.refused = false;
        self.run.end = false;
        self.run.next = None;
        self.close_run(count, true, taken)
    }

    #[inline]
    pub(super) fn close_run(&mut self, count: u64, decided: bool, taken: bool) -> Option<Item> {
        self.run.instructions = count;
        self.run.before = self.decided;
        self.run.cycles_before = self.cycles;
        if self.wanted.period.is_some() {
            self.mark(count);
        }
        self.instructions += count;
        if decided {
            self.decided = self.clock.time();
            self.count_cycles(taken || !self.run.marks.is_empty() && self.samples_decision());
        }
        if !self.wanted.paths && self.run.marks.is_empty() {
            return None;
        }
        if let (None, false, Some(node)) = (self.run.next, self.run.end, self.node) {
            self.run.next = Some(self.graph.nodes[node as usize].ip);
        }
        Some(Item::Path)
    }

    /// The first instruction of the run whose outcome the trace told, counted from 1.
    pub(super) fn decision(&self) -> Option<u64> {
        let last = match self.deciding_visit() {
            Some(visit) => visit + 1,
            None if self.run.end => self.run_visits().len(),
            None => return None,
        };
        Some(
            (0..last)
                .filter_map(|visit| self.executed(visit))
                .map(u64::from)
                .sum(),
        )
    }

    /// The first visit whose block ran up to a branch of which the trace told the outcome.
    fn deciding_visit(&self) -> Option<usize> {
        let visits = self.run_visits();
        let whole = visits.len() - usize::from(self.run.partial.is_some());
        let decides = |visit: &BlockVisit| {
            let end = self.graph.nodes[visit.block().index()].end;
            matches!(end, End::Conditional | End::Return | End::Indirect)
        };
        (self.run.undecided..whole).find(|visit| decides(&visits[*visit]))
    }

    /// Whether the first deciding instruction is sampled.
    fn samples_decision(&self) -> bool {
        let (marks, Some(visit)) = (&self.run.marks, self.deciding_visit()) else {
            return false;
        };
        let is_last = |mark: &Mark| self.executed(visit) == Some(mark.instruction + 1);
        marks
            .iter()
            .any(|mark| mark.visit as usize == visit && is_last(mark))
    }

    /// Queues the run behind what was found before, and before what is found next.
    #[inline]
    pub(super) fn queue_walk(&mut self) {
        if self.run.count == 0 && self.run.visits.is_empty() {
            return;
        }
        if let Some(item) = self.close_walk() {
            self.tell(item);
        }
    }

    /// Chooses the instructions of the run that are to be sampled.
    fn mark(&mut self, count: u64) {
        self.run.marks.clear();
        let now = self.clock.time().map_or(0, |time| time.0);
        let start = now.wrapping_add(self.clock.since(self.instructions));
        let reach = if self.clock.changed_at.is_none() {
            count + Decoder::NEAR
        } else {
            count
        };
        if self.samplers.are_quiet(start, reach) {
            return;
        }
        let distance = self.samplers.distance(start);
        self.hurried |= reach != count && distance <= reach;
        if distance > count {
            return self.samplers.pass(start, count);
        }
        let (mut pieces, mut sampled) = (
            std::mem::take(&mut self.run.pieces),
            std::mem::take(&mut self.run.sampled),
        );
        self.list_pieces(&mut pieces);
        sampled.clear();
        self.samplers.sample(start, (&pieces, count), &mut sampled);
        let mut places = Places::default();
        for &(number, choices) in &sampled {
            let mark = places.find(number, choices, |visit| self.executed(visit));
            self.run.marks.push(mark);
        }
        (self.run.pieces, self.run.sampled) = (pieces, sampled);
    }

    /// Lists where the run branches or ends, as numbers of instructions: the next sample is chosen anew there.
    fn list_pieces(&self, pieces: &mut Vec<u64>) {
        pieces.clear();
        let mut before = 0;
        for (index, visit) in self.run_visits().iter().enumerate() {
            let executed = self.executed(index).unwrap_or_default();
            let jumps = self
                .graph
                .block(visit.block().0)
                .jumps()
                .iter()
                .map(|&jump| u32::from(jump) + 1);
            let ends = jumps.take_while(|&end| end < executed).chain([executed]);
            pieces.extend(ends.map(|end| before + u64::from(end)));
            before += u64::from(executed);
        }
    }

    /// Instructions of a visit of the run that ran.
    fn executed(&self, index: usize) -> Option<u32> {
        let visits = self.run_visits();
        let visit = visits.get(index)?;
        match self.run.partial {
            Some(partial) if index + 1 == visits.len() => Some(partial),
            _ => Some(self.graph.nodes[visit.block().index()].count),
        }
    }
}

/// Finds instructions of a run by their number, in order.
#[derive(Default)]
struct Places {
    visit: usize,
    /// Instructions of the visits before.
    before: u64,
}

impl Places {
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
