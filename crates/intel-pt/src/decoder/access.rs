//! What a caller can ask about the last item.

use super::Decoder;
use super::tell::Stamp;
use crate::event::BlockValue;
use crate::item::{Moment, Tsc};
use crate::packet::{EventData, ExecMode};
use crate::path::{BasicBlock, BlockId, BlockVisit, Branch, Located, Mark, Path};
use crate::time::Guess;

impl Decoder<'_> {
    /// When the last item happened.
    pub fn moment(&self) -> Moment {
        let Stamp {
            offset,
            time,
            ip,
            instructions,
            mode,
            ..
        } = self.stamp;
        let Stamp {
            cycles,
            cycles_fresh,
            cycles_counted,
            ..
        } = self.stamp;
        Moment {
            offset,
            time,
            ip,
            instructions,
            cycles,
            cycles_fresh,
            cycles_counted,
            mode,
        }
    }

    /// The width of the code that runs.
    pub fn exec_mode(&self) -> ExecMode {
        self.context.mode
    }

    /// The time of the last item, with what a guess needs for the instructions since it was told.
    pub fn guess(&self) -> Guess {
        let Stamp {
            time: told,
            since,
            since_is_known: is_whole,
            ..
        } = self.stamp;
        Guess {
            told,
            since,
            is_whole,
            pace: self.clock.pace(),
        }
    }

    /// Where the program is, or was when tracing was switched off; 0 while that is unknown.
    pub fn ip(&self) -> u64 {
        self.node
            .map_or(self.lost_ip, |node| self.graph.nodes[node as usize].ip)
    }

    /// Whether anything ran since decoding began or was resumed: before that nobody knows here what ran last.
    pub fn has_run(&self) -> bool {
        self.run.is_known()
    }

    /// The instruction that was looked at last, whether it fitted the trace or not, if it is known; none after a walk to the address of an event.
    pub fn last_instruction(&self) -> Option<Located> {
        let visit = self.run_visits().last()?;
        let instructions = self.block(visit.block()).instructions();
        match self.run.partial {
            Some(count) if self.run.refused => instructions.get(count as usize).copied(),
            Some(_) if !self.run.end => None,
            Some(count) => instructions.get((count as usize).wrapping_sub(1)).copied(),
            None => instructions.last().copied(),
        }
    }

    /// The code that ran, after [`Item::Path`](crate::Item::Path).
    pub fn path(&self) -> Path<'_> {
        Path {
            visits: self.run_visits(),
            partial: self.run.partial,
            next: self.run.next,
            end: self.run.end,
            marks: &self.run.marks,
            before: self.run.before,
            instructions: self.run.instructions,
            decision: self.decision(),
            cycles_before: self.run.cycles_before,
        }
    }

    /// The blocks of the run, in order: a part of [`Decoder::path`].
    #[inline]
    pub fn visits(&self) -> &[BlockVisit] {
        self.run_visits()
    }

    /// The time before the first deciding instruction of the run, and how many instructions it has: parts of
    /// [`Decoder::path`].
    #[inline]
    pub fn time_and_length(&self) -> (Option<Tsc>, u64) {
        (self.run.before, self.run.instructions)
    }

    /// The instructions of the run to sample: a part of [`Decoder::path`].
    #[inline]
    pub fn marks(&self) -> &[Mark] {
        &self.run.marks
    }

    /// Whether all instructions of the run's blocks ran, and tracing did not end with them: see [`Decoder::path`].
    #[inline]
    pub fn ran_whole(&self) -> bool {
        self.run.partial.is_none() && !self.run.end
    }

    /// Where the run arrived: a part of [`Decoder::path`].
    #[inline]
    pub fn arrived_at(&self) -> Option<u64> {
        self.run.next
    }

    /// A block. Numbers stay valid until the next call of [`Decoder::next`], and longer while [`Decoder::epoch`] stays
    /// the same.
    pub fn block(&self, block: BlockId) -> BasicBlock<'_> {
        self.graph.block(block.0)
    }

    /// The address at which a block begins.
    #[inline]
    pub fn address(&self, block: BlockId) -> u64 {
        self.graph
            .nodes
            .get(block.index())
            .map_or(0, |node| node.ip)
    }

    /// Changes when blocks get new numbers.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The core to bus ratio; 0 before the first CBR packet.
    pub fn cbr(&self) -> u8 {
        self.clock.cbr()
    }

    /// The data of an [`Event::ControlFlow`](crate::Event::ControlFlow), if that was the last item.
    pub fn event_data(&self) -> &[EventData] {
        &self.event_data
    }

    /// The values of an [`Event::Block`](crate::Event::Block), if that was the last item.
    pub fn block_items(&self) -> &[BlockValue] {
        &self.items
    }

    /// The branches of the run that were taken, in order.
    pub fn branches(&self) -> impl Iterator<Item = Branch> + '_ {
        let run = self.path();
        let count = run.visits.len();
        let mut before = 0;
        run.visits
            .iter()
            .enumerate()
            .flat_map(move |(index, visit)| {
                let last = index + 1 == count;
                let next = match run.visits.get(index + 1) {
                    Some(next) => Some(self.graph.nodes[next.block().index()].ip),
                    None => run.next,
                };
                let block = self.block(visit.block());
                let executed = run
                    .partial
                    .filter(|_| last)
                    .unwrap_or(block.instructions().len() as u32);
                let start = before;
                before += u64::from(executed);
                let end = run.end && last;
                branches_of(block, executed, visit.taken(), next, end).map(move |mut branch| {
                    branch.instructions += start;
                    branch
                })
            })
    }
}

/// The branches among the first `executed` instructions of a block.
fn branches_of(
    block: BasicBlock<'_>,
    executed: u32,
    taken: bool,
    next: Option<u64>,
    end: bool,
) -> impl Iterator<Item = Branch> + '_ {
    let instructions = block.instructions();
    let executed = executed as usize;
    let inner = block
        .jumps()
        .iter()
        .map(|&jump| usize::from(jump))
        .take_while(move |&jump| jump < executed);
    let decision = (taken && executed == instructions.len() && executed != 0).then(|| executed - 1);
    let decision = decision.filter(|&last| {
        block
            .jumps()
            .last()
            .is_none_or(|&jump| usize::from(jump) != last)
    });
    inner.chain(decision).filter_map(move |at| {
        let is_last = at + 1 == executed;
        let to = match instructions.get(at + 1) {
            Some(next) if !(is_last && end) => Some(next.ip),
            _ => next,
        };
        Some(Branch {
            from: *instructions.get(at)?,
            to,
            end: end && is_last,
            instructions: at as u64 + 1,
        })
    })
}
