//! The points of code that ran at which samples are made: the same for every decoder.

use std::num::NonZeroU8;

use intel_pt::{Branch, Choices, Cycles, Decoder, Located, Moment, Path, Tsc};
use oxperf_session::SampleFlags;

use super::block_calls::BlockCallCache;
use super::flags::{BranchFilter, class_flags, state_flags};
use super::point::{Point, known};
use crate::plan::Plan;
use crate::stack::{CallObserver, FollowOptions};

/// The choice of points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelectOptions {
    /// The branches that are sampled; `None` for none.
    pub(crate) branch_samples: Option<BranchFilter>,
    /// The history that is followed of each thread.
    pub(crate) follow: FollowOptions,
    /// Branches are looked at.
    pub(crate) branches: bool,
    pub(crate) approximate_ipc: bool,
    pub(crate) plan: Plan,
}

impl SelectOptions {
    /// True when nothing but calls and returns is selected of the decoder's path, and [`SampleSelector::follow_calls`]
    /// can report them.
    #[inline]
    pub(crate) fn follows_calls_alone(&self, decoder: &Decoder<'_>) -> bool {
        let alone = self.branch_samples.is_none() && self.follow.branches.is_none();
        alone && decoder.marks().is_empty() && decoder.ran_whole()
    }

    /// True when a branch with these flags is sampled.
    #[inline]
    pub(crate) fn samples_branch(&self, flags: SampleFlags) -> bool {
        self.branch_samples
            .is_some_and(|filter| filter.takes(flags))
    }

    /// The point of an instruction that a packet names.
    pub(crate) fn named_point(&self, ip: u64, flags: SampleFlags, moment: &Moment) -> Point {
        let flags = flags | state_flags(moment, &self.plan);
        Point {
            flags,
            cycles: self.cycles(moment),
            ..Point::at(Some(ip), moment)
        }
    }

    /// The cycles up to a moment, if they are known for it.
    pub(crate) fn cycles(&self, moment: &Moment) -> Option<u64> {
        if self.approximate_ipc {
            Some(moment.cycles.rough)
        } else {
            let known = moment.cycles_fresh || !moment.cycles_counted;
            known.then_some(moment.cycles.exact)
        }
    }

    /// The cycles up to instruction `at` of a path, if they are known for it.
    fn cycles_in_path(&self, moment: &Moment, path: &PathSummary, at: u64) -> Option<u64> {
        if path.decision == Some(at) {
            return self.cycles(moment);
        }
        let so_far = if path.is_decided(at) {
            moment.cycles
        } else {
            path.cycles_before
        };
        if self.approximate_ipc {
            Some(so_far.rough)
        } else {
            (!moment.cycles_counted).then_some(so_far.exact)
        }
    }
}

/// A point of a path that is selected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SelectedPoint {
    pub(crate) point: Point,
    pub(crate) time: Option<Tsc>,
    /// The instruction is sampled, see [`intel_pt::Mark`].
    pub(crate) marked: Option<Choices>,
    /// It is a branch.
    pub(crate) branched: bool,
}

/// An instruction of a path that is sampled.
#[derive(Clone, Copy, Debug)]
struct MarkedInstruction {
    /// Instructions of the path up to and with it.
    at: u64,
    located: Located,
    choices: Choices,
}

/// Selects the points of the paths of one decoder.
#[derive(Debug, Default)]
pub(crate) struct SampleSelector {
    marks: Vec<MarkedInstruction>,
    branches: Vec<Branch>,
    selected: Vec<SelectedPoint>,
    calls: BlockCallCache,
}

impl SampleSelector {
    /// Reports the calls and returns of the decoder's path, if all of it ran.
    pub(crate) fn follow_calls(&mut self, decoder: &Decoder<'_>, observer: &mut impl CallObserver) {
        self.calls.follow(decoder, observer);
    }

    /// The selected points of the decoder's path, in order.
    pub(crate) fn select(
        &mut self,
        options: &SelectOptions,
        decoder: &Decoder<'_>,
    ) -> &[SelectedPoint] {
        collect_marks(decoder, &mut self.marks);
        self.branches.clear();
        if options.branches {
            self.branches.extend(decoder.branches());
        }
        self.selected.clear();
        let (moment, path) = (decoder.moment(), PathSummary::of(decoder.path()));
        let state = state_flags(&moment, &options.plan);
        let instructions = moment.instructions.wrapping_sub(path.instructions);
        let follows = options.follow != FollowOptions::default();
        let mut branches = self.branches.iter().peekable();
        let mut marks = self.marks.iter().peekable();
        loop {
            let at = match (marks.peek(), branches.peek()) {
                (None, None) => return &self.selected,
                (Some(mark), Some(branch)) => mark.at.min(branch.instructions),
                (Some(mark), None) => mark.at,
                (None, Some(branch)) => branch.instructions,
            };
            let mark = marks.next_if(|mark| mark.at == at);
            let branch = branches.next_if(|branch| branch.instructions == at);
            let located = branch
                .map(|branch| branch.from)
                .or(mark.map(|mark| mark.located));
            let Some(located) = located else { continue };
            let is_last = at == path.instructions;
            let flags = class_flags(located.class) | state | path.end_flags(at);
            if mark.is_none() && !follows && !options.samples_branch(flags) {
                continue;
            }
            let point = Point {
                to: known(branch.and_then(|branch| branch.to)),
                flags,
                length: NonZeroU8::new(located.length),
                crosses: moment.mode.guest_toggled && is_last,
                instructions: instructions + at,
                cycles: options.cycles_in_path(&moment, &path, at),
                ..Point::at(Some(located.ip), &moment)
            };
            let decided = path.is_decided(at);
            self.selected.push(SelectedPoint {
                point,
                time: if decided { moment.time } else { path.before },
                marked: mark.map(|mark| mark.choices),
                branched: branch.is_some(),
            });
        }
    }
}

/// A path without its blocks.
#[derive(Clone, Copy, Debug)]
struct PathSummary {
    instructions: u64,
    /// Tracing ended with it.
    end: bool,
    /// The instruction from which on the moment's time and cycles count.
    decision: Option<u64>,
    /// The time that counts before that.
    before: Option<Tsc>,
    cycles_before: Cycles,
}

impl PathSummary {
    fn of(path: Path<'_>) -> PathSummary {
        let Path {
            instructions,
            end,
            decision,
            before,
            cycles_before,
            ..
        } = path;
        PathSummary {
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

    fn end_flags(&self, at: u64) -> SampleFlags {
        if self.end && at == self.instructions {
            SampleFlags::TRACE_END
        } else {
            SampleFlags::default()
        }
    }
}

/// Collects the sampled instructions of a path.
fn collect_marks(decoder: &Decoder<'_>, marks: &mut Vec<MarkedInstruction>) {
    marks.clear();
    let path = decoder.path();
    let (mut visit, mut before) = (0, 0);
    for mark in path.marks {
        while visit < mark.visit {
            let Some(passed) = path.visits.get(visit as usize) else {
                return;
            };
            before += decoder.block(passed.block()).instructions().len() as u64;
            visit += 1;
        }
        let Some(marked) = path.visits.get(visit as usize) else {
            return;
        };
        let block = decoder.block(marked.block()).instructions();
        if let Some(located) = block.get(mark.instruction as usize) {
            marks.push(MarkedInstruction {
                at: before + u64::from(mark.instruction) + 1,
                located: *located,
                choices: mark.choices,
            });
        }
    }
}
