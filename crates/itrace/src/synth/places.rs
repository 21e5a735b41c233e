//! Places in the flow: samples of instructions, cycles and branches.

use std::ops::ControlFlow;

use oxperf_machine::Machine;
use oxperf_session::{SampleFlags, Sink};

use super::Synthesizer;
use super::stacks::StackKey;
use crate::lane::Lane;
use crate::stack::Step;

/// A place in the flow at which samples are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) flags: SampleFlags,
    /// Of the instruction; 0 where none did it.
    pub(super) length: u8,
    /// Instructions till now.
    pub(super) instructions: u64,
    /// Cycles till now, if they belong to this point.
    pub(super) cycles: Option<u64>,
    /// Whether a guest runs.
    pub(super) guest: bool,
    /// Whether control goes from a guest to its host or the other way.
    pub(super) crosses: bool,
}

impl Point {
    /// A place where nothing happens but an instruction.
    pub(super) fn at(ip: u64) -> Point {
        Point {
            from: ip,
            to: 0,
            flags: SampleFlags::default(),
            length: 0,
            instructions: 0,
            cycles: None,
            guest: false,
            crosses: false,
        }
    }
}

impl Synthesizer {
    /// Samples of instructions and cycles.
    pub(super) fn instruction(
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
            let counts = lane.by_instructions.advance(point.instructions, point.cycles);
            lane.instructions_sampled = point.instructions;
            self.hand_over(lane, (event, period, counts, None), point, machine, sink)?;
        }
        let Some(event) = self.events.cycles else { return ControlFlow::Continue(()) };
        let counts = lane.by_cycles.advance(point.instructions, point.cycles);
        if counts.1 == 0 || self.skips() {
            return ControlFlow::Continue(());
        }
        self.hand_over(lane, (event, counts.1, counts, None), point, machine, sink)
    }

    /// A branch: followed thread by thread, and sampled if it is wanted.
    pub(super) fn branch(
        &mut self,
        lane: &mut Lane<'_>,
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        if self.stacks.are_followed()
            && let Some(thread) = lane.running.thread
        {
            let (flags, from, to, length) = (point.flags, point.from, point.to, point.length);
            let step = Step { flags, from, to, length, stretch: lane.feed.stretch };
            self.stacks.step(StackKey::new(machine, thread, lane.running.cpu), &step);
        }
        let Some(event) = self.events.branches.filter(|_| self.filter.takes(point.flags)) else {
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
        let (left, entered) = (Point { to: 0, ..*point }, Point { from: 0, guest: !point.guest, ..*point });
        self.hand_over(lane, (event, 1, counts, None), &left, machine, sink)?;
        self.hand_over(lane, (event, 1, (0, 0), None), &entered, machine, sink)
    }
}
