//! Sharing a queue's trace out to the crew, and taking what it made in order.

use std::ops::ControlFlow;

use intel_pt::{Choice, TraceChunk};
use oxperf_machine::Machine;
use oxperf_session::Sink;

use super::{Halt, Tracer};
use crate::code::ThreadCode;
use crate::decoded::Earlier;
use crate::parallel::{Desk, Mark, Portion, Progress, Shared, Taken, Task, What};
use crate::select::{Common, Scribe, thread_of};
use crate::synth::Synthesizer;

/// How sharing out ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// There is nothing left to share out.
    Over,
    /// The stretch that ends here does not fit what comes before it.
    Refused(u64),
    /// The lane's own decoder went on, and halted.
    Halted(Halt),
}

impl<'t, S: Sink> Tracer<'t, '_, S> {
    /// Has the crew decode what it can from here on, as long as the machine stays the same. Says why decoding halts.
    pub(super) fn share_out(
        &mut self,
        machine: &mut Machine,
        index: usize,
    ) -> ControlFlow<(), Halt> {
        let lane = &mut self.lanes[index];
        let trace = lane.decoder.unread();
        lane.shared_to = trace.offset + 1;
        let Some(at) = lane.decoder.checkpoint() else {
            return ControlFlow::Continue(Halt::Stop);
        };
        let mut progress = Progress {
            at,
            earlier: lane.so_far(),
        };
        let limit = lane.decoder.limit();
        let desk = self.crew.desk(&progress, (trace, limit));
        let mut ending = ControlFlow::Continue(Ending::Over);
        while ending == ControlFlow::Continue(Ending::Over)
            && desk.is_worth_while()
            && self.crew.has_workers()
        {
            ending = self.work(machine, index, (&desk, trace), &mut progress);
        }
        let looked_to = desk.looked_to();
        self.crew.clear(desk);
        let ending = ending?;
        if let Ending::Halted(halt) = ending {
            return ControlFlow::Continue(halt);
        }
        self.go_on_behind(machine, index, (trace, &progress));
        self.lanes[index].shared_to = match ending {
            Ending::Refused(end) => self.crew.refuse(end),
            _ => looked_to,
        };
        ControlFlow::Continue(Halt::Stop)
    }

    /// Has the crew work, till it has made as much as can be kept, or all of it.
    fn work(
        &mut self,
        machine: &mut Machine,
        index: usize,
        (desk, trace): (&Desk<'t>, TraceChunk<'t>),
        progress: &mut Progress,
    ) -> ControlFlow<(), Ending> {
        let mut ending = self.work_on(machine, index, (desk, trace), progress);
        while ending == ControlFlow::Continue(Ending::Over) {
            let Some((portion, task)) = desk.first() else {
                break;
            };
            let earlier = progress.earlier;
            let choice = progress.choice(&portion, &task);
            let lane = &self.lanes[index];
            let fits =
                lane.continues(&portion, &earlier) && !self.synthesizer.is_deep(lane, machine);
            match choice.filter(|_| fits) {
                None => {
                    ending = self.redo(machine, index, (trace, &task), progress);
                    desk.went_on(&task, progress.earlier.instructions);
                }
                Some(choice) if progress.accept(&portion, &task, choice) => {
                    self.lanes[index].earlier = earlier;
                    self.take_portion(machine, index, (&portion, choice))?;
                    self.accepted(&task);
                }
                Some(_) => return ControlFlow::Continue(Ending::Refused(task.end.offset())),
            }
            desk.recycle(portion);
        }
        ending
    }

    /// Has the crew work, and takes what tells nothing but text and what stacks go through.
    fn work_on(
        &mut self,
        machine: &mut Machine,
        index: usize,
        (desk, trace): (&Desk<'t>, TraceChunk<'t>),
        progress: &mut Progress,
    ) -> ControlFlow<(), Ending> {
        let Tracer {
            synthesizer,
            lanes,
            crew,
            sink,
            shared: in_all,
            ..
        } = self;
        let lane = &mut lanes[index];
        let who = synthesizer
            .written
            .as_ref()
            .map(|_| thread_of(lane, machine));
        let Synthesizer {
            images,
            written,
            taking,
            clock,
            stacks,
            with_code,
            ..
        } = synthesizer;
        let common = Common {
            images,
            clock: *clock,
            timeless: taking.plan.timeless,
            with_code: *with_code,
        };
        let scribe = written.as_ref().zip(who).map(|(written, thread)| Scribe {
            written,
            scene: common.scene(lane, (written.event, thread), machine),
        });
        let (limit, thread) = (lane.decoder.limit(), lane.running.thread);
        let shared = Shared {
            machine,
            images,
            thread,
            scribe,
            taking,
            limit,
        };
        let (mut ending, mut accepted) = (ControlFlow::Continue(Ending::Over), false);
        desk.open();
        crew.work(desk, trace, shared, |portion, task| {
            let earlier = progress.earlier;
            let choice = progress.choice(portion, task);
            let choice = choice.filter(|_| !portion.tells() && lane.continues(portion, &earlier));
            let Some(choice) = choice.filter(|_| !stacks.is_deep(lane, shared.machine)) else {
                return Taken::Later;
            };
            if !progress.accept(portion, task, choice) {
                ending = ControlFlow::Continue(Ending::Refused(task.end.offset()));
                return Taken::No;
            }
            *in_all += task.length();
            accepted = true;
            for entry in &portion.entries {
                lane.pass_to(entry.latest);
            }
            lane.pass_to(portion.latest);
            lane.go_on_writing(portion, &earlier);
            if !portion.entries.is_empty() {
                stacks.apply(lane, shared.machine, &portion.moves);
            }
            let Some(scribe) = scribe else {
                return Taken::Yes;
            };
            let moment = scribe.scene.moment(lane.timestamp);
            let mut pieces = portion.text.between(Mark::default(), portion.text.end());
            if pieces.any(|piece| sink.sample_text(shared.machine, &moment, piece).is_break()) {
                ending = ControlFlow::Break(());
                return Taken::No;
            }
            Taken::Yes
        });
        if accepted {
            self.crew.accept();
        }
        ending
    }

    /// Has the lane's own decoder go over a stretch whose samples begin otherwise than foretold.
    fn redo(
        &mut self,
        machine: &mut Machine,
        index: usize,
        (trace, task): (TraceChunk<'t>, &Task),
        progress: &mut Progress,
    ) -> ControlFlow<(), Ending> {
        self.go_on_behind(machine, index, (trace, progress));
        let lane = &mut self.lanes[index];
        lane.decoder.set_stop(Some(task.end.offset()));
        let limit = lane.decoder.limit().map_or(super::END, |limit| limit.0);
        let halt = self.decode_items(machine, index, limit)?;
        let lane = &mut self.lanes[index];
        self.synthesizer.hand_over_text(lane, machine, self.sink)?;
        let arrived = lane
            .decoder
            .checkpoint()
            .filter(|end| end.agrees_but_for_samples(&task.end));
        match arrived.filter(|_| halt == Halt::Stop) {
            Some(at) => {
                *progress = Progress {
                    at,
                    earlier: lane.so_far(),
                }
            }
            None => {
                lane.shared_to = self.crew.refuse(task.end.offset());
                return ControlFlow::Continue(Ending::Halted(halt));
            }
        }
        ControlFlow::Continue(Ending::Over)
    }

    /// Something was decoded by the crew.
    fn accepted(&mut self, task: &Task) {
        self.crew.accept();
        self.shared += task.length();
    }

    /// Has the lane's own decoder go on where the crew arrived; `trace` is what it had to read.
    fn go_on_behind(
        &mut self,
        machine: &Machine,
        index: usize,
        (trace, progress): (TraceChunk<'t>, &Progress),
    ) {
        let lane = &mut self.lanes[index];
        let behind = usize::try_from(progress.at.offset() - trace.offset).unwrap_or(usize::MAX);
        let left = TraceChunk {
            bytes: trace.bytes.get(behind..).unwrap_or_default(),
            ..trace
        };
        let code = ThreadCode {
            machine,
            images: &self.synthesizer.images,
            thread: lane.running.thread,
        };
        lane.decoder.resume(&progress.at, left, &code);
        lane.decoder
            .count_on(progress.earlier.instructions, progress.earlier.since);
        lane.earlier = progress.earlier;
    }

    /// Takes what a worker made of a stretch, before which what the lane calls earlier had happened.
    fn take_portion(
        &mut self,
        machine: &mut Machine,
        index: usize,
        (portion, choice): (&Portion, Choice),
    ) -> ControlFlow<()> {
        let before = self.lanes[index].earlier.instructions;
        let (mut text, mut moves) = (Mark::default(), 0);
        for entry in &portion.entries {
            let lane = &mut self.lanes[index];
            lane.pass_to(entry.latest);
            let written = portion.text.between(text, entry.text);
            self.synthesizer
                .hand_over_pieces(lane, written, machine, self.sink)?;
            text = entry.text;
            match &entry.what {
                What::Told(told) => {
                    let mut told = told.as_ref().clone();
                    told.moment.instructions += before;
                    self.take_item(machine, index, &told)?;
                }
                What::Instruction(_, choices) if !choices.contain(choice) => {}
                What::Instruction(point, _) => {
                    self.synthesizer.instruction(
                        lane,
                        &point.behind(before),
                        machine,
                        self.sink,
                    )?;
                }
                What::Branch(point) => {
                    self.synthesizer.branch_sample(
                        lane,
                        &point.behind(before),
                        machine,
                        self.sink,
                    )?;
                }
                What::Moves(end) => {
                    self.synthesizer
                        .stacks
                        .apply(lane, machine, &portion.moves[moves..*end]);
                    moves = *end;
                }
            }
        }
        let lane = &mut self.lanes[index];
        lane.go_on_writing(
            portion,
            &Earlier {
                instructions: before,
                ..lane.earlier
            },
        );
        lane.pass_to(portion.latest);
        let written = portion.text.between(text, portion.text.end());
        self.synthesizer
            .hand_over_pieces(lane, written, machine, self.sink)
    }
}
