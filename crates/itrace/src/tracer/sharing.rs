//! Sharing a queue's trace out to the crew, and taking what it made in order.

use std::ops::ControlFlow;

use intel_pt::Stretch;
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::Tracer;
use crate::code::ThreadCode;
use crate::crew::{Desk, Portion, Progress, Shared, Taken};
use crate::synth::{Synthesizer, thread_of};

impl<'t, S: Sink> Tracer<'t, '_, S> {
    /// Has the crew decode what it can from here on, as long as the machine stays the same.
    pub(super) fn share_out(&mut self, machine: &mut Machine, index: usize) -> ControlFlow<()> {
        let lane = &mut self.lanes[index];
        let trace = lane.decoder.left();
        lane.shared_to = trace.offset + 1;
        let Some(at) = lane.decoder.checkpoint() else { return ControlFlow::Continue(()) };
        let mut progress = Progress { at, earlier: lane.so_far() };
        let limit = lane.decoder.limit();
        let desk = self.crew.desk(&progress.at, (trace, limit));
        let mut refused = None;
        let mut flow = ControlFlow::Continue(());
        while refused.is_none() && flow.is_continue() && desk.is_worth_while() {
            refused = self.work(machine, index, (&desk, trace), &mut progress, &mut flow);
        }
        self.go_on_behind(machine, index, (trace, &progress));
        let looked_to = desk.looked_to();
        self.crew.clear(desk);
        self.lanes[index].shared_to = refused.map_or(looked_to, |end| self.crew.refuse(end));
        flow
    }

    /// Has the crew work, till it has made as much as can be kept, or all of it. Gives the end of a stretch that does not
    /// fit what comes before it.
    fn work(
        &mut self,
        machine: &mut Machine,
        index: usize,
        (desk, trace): (&Desk<'t>, Stretch<'t>),
        progress: &mut Progress,
        flow: &mut ControlFlow<()>,
    ) -> Option<u64> {
        let Tracer { synthesizer, lanes, crew, sink, .. } = self;
        let lane = &mut lanes[index];
        let text = synthesizer.written.as_ref().map(|written| (written.event, thread_of(lane, machine)));
        let shared = {
            let Synthesizer { images, written, plan, .. } = &*synthesizer;
            let (limit, thread) = (lane.decoder.limit(), lane.running.thread);
            Shared { machine, images, thread, written: written.as_ref(), plan, limit }
        };
        let mut refused = None;
        desk.open();
        crew.work(desk, trace, shared, |portion, end| {
            if !portion.items.is_empty() {
                return Taken::Later;
            }
            if !progress.accept(portion, end) {
                refused = Some(end.offset());
                return Taken::No;
            }
            lane.pass_to(portion.latest);
            if let Some((event, thread)) = text.filter(|_| !portion.text.is_empty()) {
                *flow =
                    sink.written(shared.machine, &synthesizer.of_text(lane, event, thread), &portion.text);
            }
            if flow.is_continue() { Taken::Yes } else { Taken::No }
        });
        while refused.is_none() && flow.is_continue() {
            let Some((portion, end)) = desk.first() else { break };
            let earlier = progress.earlier;
            if progress.accept(&portion, &end) {
                self.lanes[index].earlier = earlier;
                *flow = self.take_portion(machine, index, &portion);
                desk.recycle(portion);
            } else {
                refused = Some(end.offset());
            }
        }
        refused
    }

    /// Has the lane's own decoder go on where the crew arrived; `trace` is what it had to read.
    fn go_on_behind(&mut self, machine: &Machine, index: usize, (trace, progress): (Stretch<'t>, &Progress)) {
        let lane = &mut self.lanes[index];
        let behind = usize::try_from(progress.at.offset() - trace.offset).unwrap_or(usize::MAX);
        if behind == 0 {
            return;
        }
        self.crew.accept();
        self.shared += behind as u64;
        let left = Stretch { bytes: trace.bytes.get(behind..).unwrap_or_default(), ..trace };
        let code = ThreadCode { machine, images: &self.synthesizer.images, thread: lane.running.thread };
        lane.decoder.resume(&progress.at, left, &code);
        lane.decoder.count_on(progress.earlier.instructions, progress.earlier.since);
        lane.earlier = progress.earlier;
    }

    /// Takes what a worker made of a stretch, before which what the lane calls earlier had happened.
    fn take_portion(&mut self, machine: &mut Machine, index: usize, portion: &Portion) -> ControlFlow<()> {
        let instructions = self.lanes[index].earlier.instructions;
        let mut taken = 0;
        for (length, latest, told) in &portion.items {
            let text = (&portion.text[taken..*length], *latest);
            self.synthesizer.hand_over_portion(&mut self.lanes[index], text, machine, self.sink)?;
            taken = *length;
            let mut told = told.clone();
            told.moment.instructions += instructions;
            self.take_item(machine, index, &told)?;
        }
        let text = (&portion.text[taken..], portion.latest);
        self.synthesizer.hand_over_portion(&mut self.lanes[index], text, machine, self.sink)
    }
}
