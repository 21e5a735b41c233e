//! Sharing a queue's trace out to the pool of workers, and taking their outputs in order.

use std::ops::ControlFlow;

use intel_pt::Choice;
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::decode::Halt;
use super::{TracedQueue, Tracer};
use crate::decoded::PriorState;
use crate::parallel::{
    Acceptance, Chunk, ChunkOutput, DecodeContext, DoneChunk, Frontier, OutputKind, SharedTrace,
    TextPosition, WorkQueue,
};
use crate::select::{SampleOwner, SampleSettings, TextSynth};
use crate::synth::{Synthesizer, ThreadStacks};

/// The end of sharing out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// There is nothing left to share out.
    Over,
    /// The chunk that ends here does not fit those before it.
    Refused(u64),
    /// The queue's own decoder went on, and halted.
    Halted(Halt),
}

/// Trace that is shared out.
struct Sharing<'t> {
    trace: SharedTrace<'t>,
    work_queue: WorkQueue<'t>,
    frontier: Frontier,
}

impl<'t, S: Sink> Tracer<'t, '_, S> {
    /// Lets the pool decode all that it can from here on, as long as the machine stays the same. Gives the reason why
    /// decoding halts.
    pub(super) fn share_out(
        &mut self,
        machine: &mut Machine,
        index: usize,
    ) -> ControlFlow<(), Halt> {
        let queue = &mut self.queues[index].queue;
        let trace = SharedTrace {
            unread: queue.decoder.unread(),
            limit: queue.decoder.limit(),
        };
        queue.shared_to = trace.unread.offset + 1;
        let Some(at) = queue.decoder.checkpoint() else {
            return ControlFlow::Continue(Halt::Stop);
        };
        let frontier = Frontier {
            at,
            prior: queue.state_so_far(),
        };
        let mut sharing = Sharing {
            trace,
            work_queue: self.pool.work_queue(&frontier, trace),
            frontier,
        };
        let mut ending = ControlFlow::Continue(Ending::Over);
        while ending == ControlFlow::Continue(Ending::Over)
            && sharing.work_queue.is_worth_while()
            && self.pool.has_workers()
        {
            ending = self.work(machine, index, &mut sharing);
        }
        let Sharing {
            work_queue,
            frontier,
            ..
        } = sharing;
        let looked_to = work_queue.looked_to();
        self.pool.clear(work_queue);
        let ending = ending?;
        if let Ending::Halted(halt) = ending {
            return ControlFlow::Continue(halt);
        }
        self.go_on_behind(machine, index, trace, &frontier);
        self.queues[index].queue.shared_to = match ending {
            Ending::Refused(end) => self.pool.refuse(end),
            _ => looked_to,
        };
        ControlFlow::Continue(Halt::Stop)
    }

    /// Lets the pool work, till its outputs take as much memory as they may, or all is done.
    fn work(
        &mut self,
        machine: &mut Machine,
        index: usize,
        sharing: &mut Sharing<'t>,
    ) -> ControlFlow<(), Ending> {
        let mut ending = self.work_on(machine, index, sharing);
        while ending == ControlFlow::Continue(Ending::Over) {
            let Some(DoneChunk { chunk, output }) = sharing.work_queue.first() else {
                break;
            };
            let prior = sharing.frontier.prior;
            let traced = &mut self.queues[index];
            let stacks = &self.synthesizer.stacks;
            let fits = traced.continues(&output, &prior) && !stacks.is_deep(&traced.queue, machine);
            let choice = sharing.frontier.choice(&output, &chunk);
            match choice.filter(|_| fits) {
                None => {
                    ending = self.redo(machine, index, &chunk, sharing);
                    let instructions = sharing.frontier.prior.instructions;
                    sharing.work_queue.went_on(&chunk, instructions);
                }
                Some(choice) if sharing.frontier.accept(&output, &chunk, choice) => {
                    traced.queue.prior = prior;
                    self.take_output(machine, index, &output, choice)?;
                    self.pool.accept();
                    self.shared += chunk.length();
                }
                Some(_) => return ControlFlow::Continue(Ending::Refused(chunk.end.offset())),
            }
            sharing.work_queue.recycle(output);
        }
        ending
    }

    /// Lets the pool work, and takes outputs that hold nothing but text and changes of stacks.
    fn work_on(
        &mut self,
        machine: &mut Machine,
        index: usize,
        sharing: &mut Sharing<'t>,
    ) -> ControlFlow<(), Ending> {
        let Synthesizer {
            images,
            fast_path,
            select,
            clock,
            stacks,
            with_code,
            ..
        } = &mut self.synthesizer;
        let traced = &mut self.queues[index];
        let settings = SampleSettings {
            images,
            clock: *clock,
            timeless: select.plan.timeless,
            with_code: *with_code,
        };
        let thread = fast_path.as_ref().map(|_| traced.queue.thread(machine));
        let machine: &Machine = machine;
        let text_synth = fast_path.as_ref().zip(thread).map(|(path, thread)| {
            let owner = SampleOwner::of_queue(&traced.queue, path.event, thread);
            TextSynth {
                path,
                sampler: settings.sampler(owner, machine),
            }
        });
        let context = DecodeContext {
            machine,
            images,
            thread: traced.queue.running.thread,
            text_synth,
            select,
            trace: sharing.trace,
        };
        let mut intake = Intake {
            traced,
            stacks,
            machine,
            text_synth,
            frontier: &mut sharing.frontier,
            sink: &mut *self.sink,
            accepted: 0,
            ending: ControlFlow::Continue(Ending::Over),
        };
        sharing.work_queue.open();
        self.pool
            .work(&sharing.work_queue, context, |done| intake.take(done));
        let Intake {
            accepted, ending, ..
        } = intake;
        if accepted > 0 {
            self.pool.accept();
            self.shared += accepted;
        }
        ending
    }

    /// Lets the queue's own decoder go over a chunk whose samples begin otherwise than foretold.
    fn redo(
        &mut self,
        machine: &mut Machine,
        index: usize,
        chunk: &Chunk,
        sharing: &mut Sharing<'t>,
    ) -> ControlFlow<(), Ending> {
        self.go_on_behind(machine, index, sharing.trace, &sharing.frontier);
        let decoder = &mut self.queues[index].queue.decoder;
        decoder.set_stop(Some(chunk.end.offset()));
        let limit = decoder.limit().map(|limit| limit.0);
        let halt = self.decode_items(machine, index, limit)?;
        let mut cx = self.queues[index].context(machine, self.sink);
        self.synthesizer.hand_over_text(&mut cx)?;
        let queue = &mut self.queues[index].queue;
        let arrived = queue
            .decoder
            .checkpoint()
            .filter(|end| end.agrees_but_for_samples(&chunk.end));
        let Some(at) = arrived.filter(|_| halt == Halt::Stop) else {
            queue.shared_to = self.pool.refuse(chunk.end.offset());
            return ControlFlow::Continue(Ending::Halted(halt));
        };
        sharing.frontier = Frontier {
            at,
            prior: queue.state_so_far(),
        };
        ControlFlow::Continue(Ending::Over)
    }

    /// Lets the queue's own decoder go on at the frontier.
    fn go_on_behind(
        &mut self,
        machine: &Machine,
        index: usize,
        trace: SharedTrace<'t>,
        frontier: &Frontier,
    ) {
        let queue = &mut self.queues[index].queue;
        let Frontier { at, prior } = frontier;
        let code = queue.code(machine, &self.synthesizer.images);
        queue.decoder.resume(at, trace.rest_at(at.offset()), &code);
        queue.decoder.count_on(prior.instructions, prior.since);
        queue.prior = *prior;
    }

    /// Takes the output for a chunk; the queue's prior state is that before it.
    fn take_output(
        &mut self,
        machine: &mut Machine,
        index: usize,
        output: &ChunkOutput,
        choice: Choice,
    ) -> ControlFlow<()> {
        let before = self.queues[index].queue.prior.instructions;
        let (mut text, mut changes) = (TextPosition::default(), 0);
        for entry in &output.entries {
            let traced = &mut self.queues[index];
            traced.queue.advance_to(entry.latest);
            let mut cx = traced.context(machine, self.sink);
            let pieces = output.text.between(text, entry.text);
            self.synthesizer.hand_over_pieces(&mut cx, pieces)?;
            text = entry.text;
            match &entry.kind {
                OutputKind::Item(item) => {
                    let mut item = item.as_ref().clone();
                    item.moment.instructions += before;
                    self.take_item(machine, index, &item)?;
                }
                OutputKind::Instruction(_, choices) if !choices.contain(choice) => {}
                OutputKind::Instruction(point, _) => {
                    self.synthesizer
                        .instruction(&mut cx, &point.behind(before))?;
                }
                OutputKind::Branch(point) => {
                    self.synthesizer
                        .branch_sample(&mut cx, &point.behind(before))?;
                }
                OutputKind::StackChanges(end) => {
                    let made = &output.changes[changes..*end];
                    self.synthesizer.stacks.apply(cx.queue, cx.machine, made);
                    changes = *end;
                }
            }
        }
        let traced = &mut self.queues[index];
        let prior = PriorState {
            instructions: before,
            ..traced.queue.prior
        };
        traced.go_on_writing(output, &prior);
        traced.queue.advance_to(output.latest);
        let mut cx = traced.context(machine, self.sink);
        let pieces = output.text.between(text, output.text.end());
        self.synthesizer.hand_over_pieces(&mut cx, pieces)
    }
}

/// Takes outputs while the workers go on.
struct Intake<'i, 't, S> {
    traced: &'i mut TracedQueue<'t>,
    stacks: &'i mut ThreadStacks,
    machine: &'i Machine,
    /// The writer of the outputs' text, if they have any.
    text_synth: Option<TextSynth<'i>>,
    frontier: &'i mut Frontier,
    sink: &'i mut S,
    /// Bytes of trace whose outputs were accepted.
    accepted: u64,
    ending: ControlFlow<(), Ending>,
}

impl<S: Sink> Intake<'_, '_, S> {
    /// Takes the next output, if it fits behind those before it and holds nothing but text and changes of stacks.
    fn take(&mut self, done: &DoneChunk) -> Acceptance {
        let DoneChunk { chunk, output } = done;
        let prior = self.frontier.prior;
        let fits = !output.has_items()
            && self.traced.continues(output, &prior)
            && !self.stacks.is_deep(&self.traced.queue, self.machine);
        let choice = self.frontier.choice(output, chunk).filter(|_| fits);
        let Some(choice) = choice else {
            return Acceptance::Deferred;
        };
        if !self.frontier.accept(output, chunk, choice) {
            self.ending = ControlFlow::Continue(Ending::Refused(chunk.end.offset()));
            return Acceptance::Refused;
        }
        self.accepted += chunk.length();
        self.go_behind(output, &prior);
        if self.pass_text(output).is_break() {
            self.ending = ControlFlow::Break(());
            return Acceptance::Refused;
        }
        Acceptance::Accepted
    }

    /// Goes on behind an output: its times, its text and its changes of stacks.
    fn go_behind(&mut self, output: &ChunkOutput, prior: &PriorState) {
        for entry in &output.entries {
            self.traced.queue.advance_to(entry.latest);
        }
        self.traced.queue.advance_to(output.latest);
        self.traced.go_on_writing(output, prior);
        if !output.entries.is_empty() {
            self.stacks
                .apply(&self.traced.queue, self.machine, &output.changes);
        }
    }

    /// Hands over the text of an output.
    fn pass_text(&mut self, output: &ChunkOutput) -> ControlFlow<()> {
        let Some(text_synth) = self.text_synth else {
            return ControlFlow::Continue(());
        };
        let moment = text_synth.sampler.moment(self.traced.queue.timestamp);
        let mut pieces = output
            .text
            .between(TextPosition::default(), output.text.end());
        pieces.try_for_each(|piece| self.sink.sample_text(self.machine, &moment, piece))
    }
}
