//! Sharing a queue's trace out to the crew, and taking what it made in order.

use std::ops::ControlFlow;

use intel_pt::{Checkpoint, Scout, Stretch};
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::Tracer;
use crate::code::ThreadCode;
use crate::crew::{Portion, Progress, Shared};
use crate::synth::Synthesizer;

impl<'t, S: Sink> Tracer<'t, '_, S> {
    /// Has the crew decode what it can from here on, as long as the machine stays the same.
    pub(super) fn share_out(&mut self, machine: &mut Machine, index: usize) -> ControlFlow<()> {
        let lane = &mut self.lanes[index];
        let (trace, limit) = (lane.decoder.left(), lane.decoder.limit());
        lane.shared_to = trace.offset + 1;
        let Some(start) = lane.decoder.checkpoint() else { return ControlFlow::Continue(()) };
        let (instructions, since) = lane.decoder.counted();
        let mut scout = Scout::new(&start, trace, limit);
        let mut progress = Progress { at: start, instructions, since: since.unwrap_or(instructions) };
        loop {
            let ends = self.crew.next_ends(progress.at.offset(), &mut scout);
            self.lanes[index].shared_to = scout.offset();
            let Some(last) = ends.last().map(Checkpoint::offset).filter(|_| ends.len() > 1) else { break };
            let Synthesizer { images, written, plan, .. } = &self.synthesizer;
            let (thread, written) = (self.lanes[index].running.thread, written.as_ref());
            let shared = Shared { machine, images, thread, written, plan, limit };
            self.crew.decode(&progress.at, &ends, trace, shared);
            let crew = std::mem::take(&mut self.crew);
            let mut accepted = crew.accepted(ends, &mut progress);
            let flow =
                accepted.try_for_each(|(portion, before)| self.take_portion(machine, index, portion, before));
            drop(accepted);
            self.crew = crew;
            flow?;
            if progress.at.offset() != last {
                break;
            }
        }
        self.go_on_behind(machine, index, (trace, &progress));
        ControlFlow::Continue(())
    }

    /// Has the lane's own decoder go on where the crew arrived; `trace` is what it had to read.
    fn go_on_behind(&mut self, machine: &Machine, index: usize, (trace, progress): (Stretch<'t>, &Progress)) {
        let lane = &mut self.lanes[index];
        let behind = usize::try_from(progress.at.offset() - trace.offset).unwrap_or(usize::MAX);
        if behind == 0 {
            return;
        }
        self.shared += behind as u64;
        let left = Stretch { bytes: trace.bytes.get(behind..).unwrap_or_default(), ..trace };
        let code = ThreadCode { machine, images: &self.synthesizer.images, thread: lane.running.thread };
        lane.decoder.resume(&progress.at, left, &code);
        lane.decoder.count_on(progress.instructions, progress.since);
    }

    /// Takes what a worker made of a stretch, before which so many instructions had run.
    fn take_portion(
        &mut self,
        machine: &mut Machine,
        index: usize,
        portion: &Portion,
        instructions: u64,
    ) -> ControlFlow<()> {
        let mut taken = 0;
        for (length, latest, told) in &portion.items {
            let text = (&portion.text[taken..*length], *latest);
            self.synthesizer.hand_over_portion(&mut self.lanes[index], text, machine, self.sink)?;
            taken = *length;
            let mut told = *told;
            told.moment.instructions += instructions;
            self.take_item(machine, index, &told)?;
        }
        let text = (&portion.text[taken..], portion.latest);
        self.synthesizer.hand_over_portion(&mut self.lanes[index], text, machine, self.sink)
    }
}
