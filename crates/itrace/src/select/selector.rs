//! What is taken of code that ran, and where: the same for whoever decoded it.

use intel_pt::{Branch, Choices, Cycles, Decoder, Located, Moment, Path, Tsc};
use oxperf_session::SampleFlags;

use super::block_calls::BlockCalls;
use super::flags::{BranchFilter, flags_of, state_flags};
use super::point::Point;
use crate::plan::Plan;
use crate::stack::{Calls, Followed};

/// What is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taking {
    /// Which branches are sampled.
    pub(crate) sampled: Option<BranchFilter>,
    /// What is followed of each thread.
    pub(crate) followed: Followed,
    /// Whether branches are looked at, at all.
    pub(crate) branches: bool,
    pub(crate) approximate_ipc: bool,
    pub(crate) plan: Plan,
}

impl Taking {
    /// Whether nothing but calls and returns is taken of the decoder's run, and [`Taker::follow_calls`] can tell of them.
    #[inline]
    pub(crate) fn follows_calls_alone(&self, decoder: &Decoder<'_>) -> bool {
        let alone = self.sampled.is_none() && self.followed.branches == 0;
        alone && decoder.marks().is_empty() && decoder.ran_whole()
    }

    /// An instruction that a packet names.
    pub(crate) fn address(&self, ip: u64, flags: SampleFlags, moment: &Moment) -> Point {
        let flags = flags | state_flags(moment, &self.plan);
        Point {
            flags,
            cycles: self.cycles(moment),
            ..Point::at(ip, moment)
        }
    }

    /// The cycles up to a moment, if they were told for it.
    pub(crate) fn cycles(&self, moment: &Moment) -> Option<u64> {
        match self.approximate_ipc {
            true => Some(moment.cycles.rough),
            false => (moment.cycles_fresh || !moment.cycles_counted).then_some(moment.cycles.exact),
        }
    }

    /// The cycles up to instruction `at` of a run, if they were told for it.
    fn cycles_in_run(&self, moment: &Moment, told: &Told, at: u64) -> Option<u64> {
        if told.decision == Some(at) {
            return self.cycles(moment);
        }
        let so_far = if told.is_decided(at) {
            moment.cycles
        } else {
            told.cycles_before
        };
        match self.approximate_ipc {
            true => Some(so_far.rough),
            false => (!moment.cycles_counted).then_some(so_far.exact),
        }
    }
}

/// A place in a run at which something is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) point: Point,
    pub(crate) time: Option<Tsc>,
    /// The instruction is sampled, see [`intel_pt::Mark`].
    pub(crate) marked: Option<Choices>,
    /// It is a branch.
    pub(crate) branched: bool,
}

/// What takes it of the runs of one decoder.
#[derive(Debug, Default)]
pub(crate) struct Taker {
    marks: Vec<(u64, Located, Choices)>,
    branches: Vec<Branch>,
    taken: Vec<Taken>,
    calls: BlockCalls,
}

impl Taker {
    /// Tells of the calls and returns of the decoder's run, if all of it ran.
    pub(crate) fn follow_calls(&mut self, decoder: &Decoder<'_>, told: &mut impl Calls) {
        self.calls.follow(decoder, told);
    }

    /// What is taken of the decoder's run, in order.
    pub(crate) fn take(&mut self, taking: &Taking, decoder: &Decoder<'_>) -> &[Taken] {
        collect_marks(decoder, &mut self.marks);
        self.branches.clear();
        if taking.branches {
            self.branches.extend(decoder.branches());
        }
        self.taken.clear();
        let (moment, told) = (decoder.moment(), Told::of(decoder.path()));
        let state = state_flags(&moment, &taking.plan);
        let instructions = moment.instructions.wrapping_sub(told.instructions);
        let mut branches = self.branches.iter().peekable();
        let mut marks = self.marks.iter().peekable();
        loop {
            let at = match (marks.peek(), branches.peek()) {
                (None, None) => return &self.taken,
                (Some(mark), Some(branch)) => mark.0.min(branch.instructions),
                (Some(mark), None) => mark.0,
                (None, Some(branch)) => branch.instructions,
            };
            let mark = marks.next_if(|mark| mark.0 == at);
            let branch = branches.next_if(|branch| branch.instructions == at);
            let located = branch.map(|branch| branch.from).or(mark.map(|mark| mark.1));
            let Some(located) = located else { continue };
            let end = told.end && at == told.instructions;
            let ended = if end {
                SampleFlags::TRACE_END
            } else {
                SampleFlags::default()
            };
            let flags = flags_of(located.class) | state | ended;
            let matters = taking.followed != Followed::default()
                || taking.sampled.is_some_and(|filter| filter.takes(flags));
            if mark.is_none() && !matters {
                continue;
            }
            let point = Point {
                to: branch.and_then(|branch| branch.to).unwrap_or(0),
                flags,
                length: located.length,
                crosses: moment.mode.guest_toggled && at == told.instructions,
                instructions: instructions + at,
                cycles: taking.cycles_in_run(&moment, &told, at),
                ..Point::at(located.ip, &moment)
            };
            let time = if told.is_decided(at) {
                moment.time
            } else {
                told.before
            };
            self.taken.push(Taken {
                point,
                time,
                marked: mark.map(|mark| mark.2),
                branched: branch.is_some(),
            });
        }
    }
}

/// What is known of a run as a whole.
#[derive(Clone, Copy, Debug)]
struct Told {
    instructions: u64,
    /// Whether tracing ended with it.
    end: bool,
    /// The instruction from which on the moment's time and cycles count.
    decision: Option<u64>,
    /// What counts before that.
    before: Option<Tsc>,
    cycles_before: Cycles,
}

impl Told {
    fn of(run: Path<'_>) -> Told {
        let Path {
            instructions,
            end,
            decision,
            before,
            cycles_before,
            ..
        } = run;
        Told {
            instructions,
            end,
            decision,
            before,
            cycles_before,
        }
    }

    fn is_decided(&self, at: u64) -> bool {
        self.decision.is_some_and(|decision| at >= decision)
    }
}

/// The sampled instructions of a run, each with the number of instructions up to and with it.
fn collect_marks(decoder: &Decoder<'_>, marks: &mut Vec<(u64, Located, Choices)>) {
    marks.clear();
    let run = decoder.path();
    let (mut visit, mut before) = (0, 0);
    for mark in run.marks {
        while visit < mark.visit {
            let Some(passed) = run.visits.get(visit as usize) else {
                return;
            };
            before += decoder.block(passed.block()).instructions().len() as u64;
            visit += 1;
        }
        let Some(marked) = run.visits.get(visit as usize) else {
            return;
        };
        let block = decoder.block(marked.block()).instructions();
        if let Some(located) = block.get(mark.instruction as usize) {
            marks.push((
                before + u64::from(mark.instruction) + 1,
                *located,
                mark.choices,
            ));
        }
    }
}
