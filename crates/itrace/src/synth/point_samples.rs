//! Points of the flow: samples of instructions, cycles and branches.

use std::ops::ControlFlow;

use oxperf_session::Sink;

use super::Synthesizer;
use super::context::SynthContext;
use super::deliver::NewSample;
use super::ipc::IpcCounts;
use crate::select::Point;
use crate::stack::FollowOptions;

impl Synthesizer<'_> {
    /// Makes samples of instructions and cycles.
    pub(crate) fn instruction(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        point: &Point,
    ) -> ControlFlow<()> {
        if let Some(event) = self.events.instructions.filter(|_| !self.skips()) {
            let state = &mut *cx.state;
            let since_last = point.instructions.wrapping_sub(state.instructions_sampled);
            let counts = state
                .by_instructions
                .advance(point.instructions, point.cycles);
            state.instructions_sampled = point.instructions;
            let new = NewSample {
                event,
                period: if self.options.quick == 0 {
                    since_last
                } else {
                    1
                },
                counts,
                payload: None,
            };
            self.deliver(cx, new, point)?;
        }
        let Some(event) = self.events.cycles else {
            return ControlFlow::Continue(());
        };
        let counts = cx.state.by_cycles.advance(point.instructions, point.cycles);
        if counts.cycles == 0 || self.skips() {
            return ControlFlow::Continue(());
        }
        let new = NewSample {
            event,
            period: counts.cycles,
            counts,
            payload: None,
        };
        self.deliver(cx, new, point)
    }

    /// Follows a branch of the thread that runs, and samples it if it is selected.
    pub(crate) fn branch(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        point: &Point,
    ) -> ControlFlow<()> {
        let follow = self.select.follow;
        if follow != FollowOptions::default()
            && let Some(stack) = self.stacks.of_queue(cx.queue, cx.machine)
        {
            stack.step(&point.step(cx.queue.feed.stretch), follow);
        }
        self.branch_sample(cx, point)
    }

    /// Samples a branch that was followed, if it is selected.
    pub(crate) fn branch_sample(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        point: &Point,
    ) -> ControlFlow<()> {
        let selected = self.select.samples_branch(point.flags);
        let Some(event) = self.events.branches.filter(|_| selected) else {
            return ControlFlow::Continue(());
        };
        if self.skips() {
            return ControlFlow::Continue(());
        }
        let counts = cx
            .state
            .by_branches
            .advance(point.instructions, point.cycles);
        let with_counts = |counts| NewSample {
            event,
            period: 1,
            counts,
            payload: None,
        };
        if !point.crosses {
            return self.deliver(cx, with_counts(counts), point);
        }
        // Guest and host each see their own end of the branch.
        let left = Point { to: None, ..*point };
        let entered = Point {
            from: None,
            guest: !point.guest,
            ..*point
        };
        self.deliver(cx, with_counts(counts), &left)?;
        self.deliver(cx, with_counts(IpcCounts::default()), &entered)
    }
}
