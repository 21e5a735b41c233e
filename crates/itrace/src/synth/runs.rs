//! Code that ran: its sampled instructions and its branches, in order.

use std::ops::ControlFlow;

use intel_pt::{Branch, Cycles, Located, Moment, Run, Tsc};
use oxperf_machine::Machine;
use oxperf_session::{SampleFlags, Sink};

use super::flags::{flags_of, state_flags};
use super::sample::thread_of;
use super::{Point, Synthesizer};
use crate::lane::Lane;

/// Bytes of text that are handed over at once.
const TEXT: usize = 128 << 10;

impl Synthesizer {
    /// Code that ran: its sampled instructions and its branches, in order.
    pub(crate) fn run(
        &mut self,
        lane: &mut Lane<'_>,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let moment = &lane.decoder.moment();
        let crosses = moment.mode.guest_toggled;
        let ends_matter =
            crosses && self.written.as_ref().map(|written| written.event) == self.events.branches;
        if ends_matter {
            self.hand_over_text(lane, machine, sink)?;
        } else if self.written.is_some() {
            return self.write_run(lane, moment, machine, sink);
        }
        let (mut marks, mut branches) = (std::mem::take(&mut self.marks), std::mem::take(&mut self.branches));
        collect_marks(lane, &mut marks);
        branches.clear();
        if self.wanted.runs {
            branches.extend(lane.decoder.branches());
        }
        let flow = self.points(lane, moment, (&marks, &branches), machine, sink);
        (self.marks, self.branches) = (marks, branches);
        flow
    }

    /// Writes a run, where places alone matter.
    fn write_run(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let Some(written) = &self.written else { return ControlFlow::Continue(()) };
        lane.pass_to(lane.decoder.run().before);
        lane.pass_to(moment.time);
        let state = state_flags(moment, &self.plan);
        lane.texts.write_run(written, &lane.decoder, state, &mut self.text);
        if self.text.len() < TEXT {
            return ControlFlow::Continue(());
        }
        self.hand_over_text(lane, machine, sink)
    }

    /// Hands over what was written since the last time.
    pub(crate) fn hand_over_text(
        &mut self,
        lane: &mut Lane<'_>,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let text = std::mem::take(&mut self.text);
        let flow = self.pass_text(lane, &text, machine, sink);
        self.text = text;
        self.text.clear();
        flow
    }

    fn pass_text(
        &mut self,
        lane: &mut Lane<'_>,
        text: &[u8],
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let event = self.written.as_ref().map(|written| written.event);
        let Some(event) = event.filter(|_| !text.is_empty()) else { return ControlFlow::Continue(()) };
        let thread = thread_of(lane, machine);
        sink.written(machine, &self.of_text(lane, event, thread), text)
    }

    /// Hands over text that was written elsewhere, up to a time.
    pub(crate) fn hand_over_portion(
        &mut self,
        lane: &mut Lane<'_>,
        (text, latest): (&[u8], Option<Tsc>),
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        lane.pass_to(latest);
        self.pass_text(lane, text, machine, sink)
    }

    fn points(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        (marks, branches): (&[(u64, Located)], &[Branch]),
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let told = Told::of(lane.decoder.run());
        let instructions = moment.instructions.wrapping_sub(told.instructions);
        let mut branches = branches.iter().peekable();
        let mut marks = marks.iter().peekable();
        loop {
            let at = match (marks.peek(), branches.peek()) {
                (None, None) => return ControlFlow::Continue(()),
                (Some(mark), Some(branch)) => mark.0.min(branch.instructions),
                (Some(mark), None) => mark.0,
                (None, Some(branch)) => branch.instructions,
            };
            let mark = marks.next_if(|mark| mark.0 == at);
            let branch = branches.next_if(|branch| branch.instructions == at);
            lane.pass_to(if told.is_decided(at) { moment.time } else { told.before });
            let located = branch.map(|branch| branch.from).or(mark.map(|mark| mark.1));
            let Some(located) = located else { continue };
            let end = told.end && at == told.instructions;
            let ended = if end { SampleFlags::TRACE_END } else { SampleFlags::default() };
            let point = Point {
                from: located.ip,
                to: branch.and_then(|branch| branch.to).unwrap_or(0),
                flags: flags_of(located.class) | state_flags(moment, &self.plan) | ended,
                length: located.length,
                guest: moment.mode.guest,
                crosses: moment.mode.guest_toggled && at == told.instructions,
                instructions: instructions + at,
                cycles: self.cycles_in_run(moment, &told, at),
            };
            if mark.is_some() {
                self.instruction(lane, &point, machine, sink)?;
            }
            if branch.is_some() {
                self.branch(lane, &point, machine, sink)?;
            }
        }
    }

    /// The cycles up to instruction `at` of a run, if they were told for it.
    fn cycles_in_run(&self, moment: &Moment, told: &Told, at: u64) -> Option<u64> {
        if told.decision == Some(at) {
            return self.cycles(moment);
        }
        let so_far = if told.is_decided(at) { moment.cycles } else { told.cycles_before };
        match self.options.approximate_ipc {
            true => Some(so_far.rough),
            false => (!moment.cycles_counted).then_some(so_far.exact),
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
    fn of(run: Run<'_>) -> Told {
        let Run { instructions, end, decision, before, cycles_before, .. } = run;
        Told { instructions, end, decision, before, cycles_before }
    }

    fn is_decided(&self, at: u64) -> bool {
        self.decision.is_some_and(|decision| at >= decision)
    }
}

/// The sampled instructions of a run, each with the number of instructions up to and with it.
fn collect_marks(lane: &Lane<'_>, marks: &mut Vec<(u64, Located)>) {
    marks.clear();
    let run = lane.decoder.run();
    let (mut visit, mut before) = (0, 0);
    for mark in run.marks {
        while visit < mark.visit {
            let Some(passed) = run.visits.get(visit as usize) else { return };
            before += lane.decoder.block(passed.block()).instructions().len() as u64;
            visit += 1;
        }
        let Some(marked) = run.visits.get(visit as usize) else { return };
        let block = lane.decoder.block(marked.block()).instructions();
        if let Some(located) = block.get(mark.instruction as usize) {
            marks.push((before + u64::from(mark.instruction) + 1, *located));
        }
    }
}
