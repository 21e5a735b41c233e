//! Code that ran: its sampled instructions and its branches, in order.

use std::ops::ControlFlow;

use intel_pt::Moment;
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::Synthesizer;
use crate::queue::Lane;
use crate::select::{Scribe, Taker, state_flags, thread_of};

/// Bytes of text that are handed over at once.
const TEXT: usize = 128 << 10;

impl Synthesizer<'_> {
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

    /// Writes a run, where moments and places alone matter.
    fn write_run(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let state = state_flags(moment, &self.plan);
        self.write(lane, machine, |scribe, lane, text| {
            lane.texts.write_run(
                scribe,
                &lane.decoder,
                (moment, state),
                &mut lane.heads,
                text,
            );
        });
        self.hand_over_much(lane, machine, sink)
    }

    /// Writes an instruction that a packet names, likewise.
    pub(super) fn write_address(
        &mut self,
        lane: &mut Lane<'_>,
        moment: &Moment,
        ip: u64,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let state = state_flags(moment, &self.plan);
        self.write(lane, machine, |scribe, lane, text| {
            let epoch = lane.decoder.epoch();
            lane.texts
                .write_address(scribe, (ip, moment, state), epoch, &mut lane.heads, text);
        });
        self.hand_over_much(lane, machine, sink)
    }

    fn write(
        &mut self,
        lane: &mut Lane<'_>,
        machine: &mut Machine,
        write: impl FnOnce(&Scribe<'_>, &mut Lane<'_>, &mut Vec<u8>),
    ) {
        let thread = thread_of(lane, machine);
        let mut text = std::mem::take(&mut self.text);
        let common = self.common();
        if let Some(written) = &self.written {
            let scribe = Scribe {
                written,
                scene: common.scene(lane, (written.event, thread), machine),
            };
            lane.heads.set_timestamp(lane.timestamp);
            write(&scribe, lane, &mut text);
            lane.timestamp = lane.heads.timestamp();
        }
        self.text = text;
    }

    /// Hands over what was written, if it is much.
    fn hand_over_much(
        &mut self,
        lane: &mut Lane<'_>,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
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
        let Some(event) = event.filter(|_| !text.is_empty()) else {
            return ControlFlow::Continue(());
        };
        let thread = thread_of(lane, machine);
        let moment = self
            .common()
            .scene(lane, (event, thread), machine)
            .moment(lane.timestamp);
        sink.sample_text(machine, &moment, text)
    }

    /// Hands over text that was written elsewhere.
    pub(crate) fn hand_over_pieces<'p>(
        &mut self,
        lane: &mut Lane<'_>,
        mut pieces: impl Iterator<Item = &'p [u8]>,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        pieces.try_for_each(|piece| self.pass_text(lane, piece, machine, sink))
    }
}
