//! Questions about the last item.

use std::num::NonZeroU8;

use super::Decoder;
use super::emitter::Stamp;
use super::walker::Walker;
use crate::event::BlockValue;
use crate::item::{Moment, Tsc};
use crate::packet::{EventData, ExecMode};
use crate::path::{BasicBlock, BlockId, BlockVisit, Branch, Located, Mark, Path};
use crate::time::Guess;

impl<'t> Decoder<'t> {
    #[inline]
    fn walker(&self) -> &Walker<'t> {
        self.follower.emitter().walker()
    }

    /// The moment of the last item.
    pub fn moment(&self) -> Moment {
        let stamp: &Stamp = self.follower.emitter().last_stamp();
        Moment {
            offset: stamp.offset,
            time: stamp.time,
            ip: stamp.ip,
            instructions: stamp.instructions,
            cycles: stamp.cycles,
            cycles_fresh: stamp.cycles_fresh,
            cycles_counted: stamp.cycles_counted,
            mode: stamp.mode,
        }
    }

    /// The width of the code that runs.
    pub fn exec_mode(&self) -> ExecMode {
        self.follower.emitter().processor().context().mode
    }

    /// The time of the last item, with the parts of a guess for the instructions since it was known.
    pub fn guess(&self) -> Guess {
        let emitter = self.follower.emitter();
        let stamp = emitter.last_stamp();
        Guess {
            known: stamp.time,
            since: stamp.since,
            is_whole: stamp.since_is_known,
            pace: emitter.trace().clock().pace(),
        }
    }

    /// The address of the program, or of the place where tracing was switched off; `None` while that is unknown.
    pub fn ip(&self) -> Option<u64> {
        self.walker().ip()
    }

    /// True if anything ran since decoding began or was resumed: before that nobody knows here what ran last.
    pub fn has_run(&self) -> bool {
        self.walker().has_path()
    }

    /// The instruction that was looked at last, if it is known; it may not fit the trace. None after a walk to the address
    /// of an event.
    pub fn last_instruction(&self) -> Option<Located> {
        let walker = self.walker();
        let visit = walker.visits().last()?;
        let instructions = self.block(visit.block()).instructions();
        match walker.partial() {
            Some(count) if walker.is_refused() => instructions.get(count as usize).copied(),
            Some(_) if !walker.ends_tracing() => None,
            Some(count) => instructions.get((count as usize).wrapping_sub(1)).copied(),
            None => instructions.last().copied(),
        }
    }

    /// The code that ran, after [`Item::Path`](crate::Item::Path).
    pub fn path(&self) -> Path<'_> {
        self.follower.emitter().path()
    }

    /// The blocks of the path, in order: a part of [`Decoder::path`].
    #[inline]
    pub fn visits(&self) -> &[BlockVisit] {
        self.walker().visits()
    }

    /// The time before the first deciding instruction of the path, and its number of instructions: parts of
    /// [`Decoder::path`].
    #[inline]
    pub fn time_and_length(&self) -> (Option<Tsc>, u64) {
        self.follower.emitter().time_and_length()
    }

    /// The instructions of the path to sample: a part of [`Decoder::path`].
    #[inline]
    pub fn marks(&self) -> &[Mark] {
        self.follower.emitter().marks()
    }

    /// True if all instructions of the path's blocks ran, and tracing did not end with them: see [`Decoder::path`].
    #[inline]
    pub fn ran_whole(&self) -> bool {
        let walker = self.walker();
        walker.partial().is_none() && !walker.ends_tracing()
    }

    /// The address at which the path arrived: a part of [`Decoder::path`].
    #[inline]
    pub fn arrived_at(&self) -> Option<u64> {
        self.walker().next_ip()
    }

    /// A block. Numbers stay valid until the next call of [`Decoder::next`], and longer while [`Decoder::epoch`] stays
    /// the same.
    pub fn block(&self, block: BlockId) -> BasicBlock<'_> {
        self.walker().block(block.0)
    }

    /// The address at which a block begins; `None` for a number that names none.
    #[inline]
    pub fn address(&self, block: BlockId) -> Option<u64> {
        self.walker().address(block.0)
    }

    /// Changes when blocks get new numbers.
    pub fn epoch(&self) -> u64 {
        self.walker().epoch()
    }

    /// The core to bus ratio; `None` before the first CBR packet.
    pub fn cbr(&self) -> Option<NonZeroU8> {
        self.follower.emitter().trace().clock().cbr()
    }

    /// The data of an [`Event::ControlFlow`](crate::Event::ControlFlow), if that was the last item.
    pub fn event_data(&self) -> &[EventData] {
        self.follower.emitter().event_data()
    }

    /// The values of an [`Event::Block`](crate::Event::Block), if that was the last item.
    pub fn block_items(&self) -> &[BlockValue] {
        self.follower.emitter().block_items()
    }

    /// The branches of the path that were taken, in order.
    pub fn branches(&self) -> impl Iterator<Item = Branch> + '_ {
        let path = self.path();
        let count = path.visits.len();
        let mut before = 0;
        path.visits
            .iter()
            .enumerate()
            .flat_map(move |(index, visit)| {
                let last = index + 1 == count;
                let next = match path.visits.get(index + 1) {
                    Some(next) => self.address(next.block()),
                    None => path.next,
                };
                let block = self.block(visit.block());
                let executed = path
                    .partial
                    .filter(|_| last)
                    .unwrap_or(block.instructions().len() as u32);
                let start = before;
                before += u64::from(executed);
                let end = path.end && last;
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
