//! Code that ran: its sampled instructions and its branches, in order.

use std::ops::ControlFlow;

use intel_pt::{Moment, Tsc};
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::Synthesizer;
use super::flags::state_flags;
use super::sample::thread_of;
use super::taking::Taker;
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
        let time = moment.time;
        if self.taking.follows_calls_alone(&lane.decoder) {
            if let Some(stack) = self.stack_of(lane, machine) {
                lane.taker.follow_calls(&lane.decoder, stack);
            }
        } else {
            let mut taker = std::mem::take(&mut lane.taker);
            let flow = self.take_run(&mut taker, lane, machine, sink);
            lane.taker = taker;
            flow?;
        }
        lane.pass_to(time);
        ControlFlow::Continue(())
    }

    /// Takes what is asked for of a run.
    fn take_run(
        &mut self,
        taker: &mut Taker,
        lane: &mut Lane<'_>,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        for taken in taker.take(&self.taking, &lane.decoder) {
            lane.pass_to(taken.time);
            if taken.marked.is_some() {
                self.instruction(lane, &taken.point, machine, sink)?;
            }
            if taken.branched {
                self.branch(lane, &taken.point, machine, sink)?;
            }
        }
        ControlFlow::Continue(())
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
        sink.written(machine, &self.common().of_text(lane, event, thread), text)
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
}
