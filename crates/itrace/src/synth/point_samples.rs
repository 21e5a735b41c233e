//! Places in the flow: samples of instructions, cycles and branches.

use std::ops::ControlFlow;

use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::Synthesizer;
use crate::queue::Lane;
use crate::select::Point;
use crate::stack::{Followed, ThreadStack};

impl Synthesizer<'_> {
    /// The stack of the thread that runs, for what the trace tells of it now.
    pub(crate) fn stack_of(
        &mut self,
        lane: &Lane<'_>,
        machine: &Machine,
    ) -> Option<&mut ThreadStack> {
        self.stacks.of_lane(lane, machine)
    }

    /// Whether the calls of the thread that runs are so many that each has to be followed in order.
    pub(crate) fn is_deep(&self, lane: &Lane<'_>, machine: &Machine) -> bool {
        self.stacks.is_deep(lane, machine)
    }

    /// Samples of instructions and cycles.
    pub(crate) fn instruction(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if let Some(event) = self.events.instructions.filter(|_| !self.skips()) {
            let period = match self.options.quick {
                0 => point.instructions.wrapping_sub(lane.instructions_sampled),
                _ => 1,
            };
            let counts = lane
                .by_instructions
                .advance(point.instructions, point.cycles);
            lane.instructions_sampled = point.instructions;
            self.hand_over(lane, (event, period, counts, None), point, machine, sink)?;
        }
        let Some(event) = self.events.cycles else {
            return ControlFlow::Continue(());
        };
        let counts = lane.by_cycles.advance(point.instructions, point.cycles);
        if counts.1 == 0 || self.skips() {
            return ControlFlow::Continue(());
        }
        self.hand_over(lane, (event, counts.1, counts, None), point, machine, sink)
    }

    /// A branch: followed thread by thread, and sampled if it is wanted.
    pub(crate) fn branch(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let followed = self.taking.followed;
        if followed != Followed::default()
            && let Some(stack) = self.stack_of(lane, machine)
        {
            stack.step(&point.step(lane.feed.stretch), followed);
        }
        self.branch_sample(lane, point, machine, sink)
    }

    /// A branch that was followed, sampled if it is wanted.
    pub(crate) fn branch_sample(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let taken = self
            .taking
            .sampled
            .is_some_and(|filter| filter.takes(point.flags));
        let Some(event) = self.events.branches.filter(|_| taken) else {
            return ControlFlow::Continue(());
        };
        if self.skips() {
            return ControlFlow::Continue(());
        }
        let counts = lane.by_branches.advance(point.instructions, point.cycles);
        if !point.crosses {
            return self.hand_over(lane, (event, 1, counts, None), point, machine, sink);
        }
        // Each world sees its own end of the branch.
        let (left, entered) = (
            Point { to: 0, ..*point },
            Point {
                from: 0,
                guest: !point.guest,
                ..*point
            },
        );
        self.hand_over(lane, (event, 1, counts, None), &left, machine, sink)?;
        self.hand_over(lane, (event, 1, (0, 0), None), &entered, machine, sink)
    }
}
