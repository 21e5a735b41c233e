//! Points as samples: their code, counts and stacks, delivered to a sink.

use std::ops::ControlFlow;

use oxperf_session::{EventIndex, Payload, SampleEvent, Sink, Traced, TracedCode};

use super::Synthesizer;
use super::context::SynthContext;
use super::ipc::IpcCounts;
use super::thread_stacks::StackKey;
use crate::select::{Point, SampleOwner, SampleSettings, ShownInstruction};

/// A sample to be made of a point.
pub(super) struct NewSample {
    pub(super) event: EventIndex,
    pub(super) period: u64,
    pub(super) counts: IpcCounts,
    pub(super) payload: Option<Payload>,
}

impl NewSample {
    /// A sample that stands for itself alone.
    pub(super) fn single(event: EventIndex, payload: Option<Payload>) -> NewSample {
        NewSample {
            event,
            period: 1,
            counts: IpcCounts::default(),
            payload,
        }
    }
}

impl Synthesizer<'_> {
    /// Delivers a sample to the sink.
    pub(super) fn deliver(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        new: NewSample,
        point: &Point,
    ) -> ControlFlow<()> {
        let NewSample {
            event,
            period,
            counts,
            payload,
        } = new;
        let thread = cx.queue.thread(cx.machine);
        let code = self.code(cx, point);
        let key = StackKey::new(cx.machine, thread, cx.queue.running.cpu);
        let depth = self.stacks.depth(key);
        let owner = SampleOwner::of_queue(cx.queue, event, thread);
        let settings = SampleSettings {
            images: &self.images,
            clock: self.clock,
            timeless: self.plan.timeless,
            with_code: self.with_code,
        };
        settings.fill(&mut self.sampled, owner, cx.queue.timestamp, point);
        self.sampled.sample.period = Some(period);
        self.sampled.period = period;
        let progress = cx.progress(point.instructions, point.cycles);
        self.sampled.traced = Some(Traced {
            flags: point.flags,
            instructions: counts.instructions,
            cycles: counts.cycles,
            code,
            depth,
            progress,
            payload,
        });
        if Some(event) == self.events.branches {
            return cx.sink.sample(cx.machine, &self.sampled);
        }
        let mut sampled: SampleEvent<'_> = self.sampled;
        let history = self.stacks.of_sample(key, point.from.unwrap_or(0));
        sampled.sample.callchain = history.callchain;
        sampled.sample.branch_stack = history.branches;
        cx.sink.sample(cx.machine, &sampled)
    }

    fn code<S>(&self, cx: &SynthContext<'_, '_, S>, point: &Point) -> TracedCode {
        let source = cx.queue.code(cx.machine, &self.images);
        ShownInstruction::at(cx.state.last, point).code(point, source, self.with_code)
    }
}
