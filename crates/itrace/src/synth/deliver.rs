//! Points as samples: their code, counts and stacks, handed to a sink.

use std::ops::ControlFlow;

use oxperf_abi::PerfTime;
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, Payload, SampleEvent, Sink, Traced, TracedCode};

use super::Synthesizer;
use super::thread_stacks::StackKey;
use crate::code::ThreadCode;
use crate::queue::Lane;
use crate::select::{Common, Point, Ran, Who, fill, thread_of};

impl Synthesizer<'_> {
    /// Hands a sample to the sink.
    pub(super) fn hand_over(
        &mut self,
        lane: &mut Lane<'_>,
        (event, period, (instructions, cycles), payload): (
            EventIndex,
            u64,
            (u64, u64),
            Option<Payload>,
        ),
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let thread = thread_of(lane, machine);
        let code = self.code(lane, point, machine);
        let key = StackKey::new(machine, thread, lane.running.cpu);
        let depth = self.stacks.depth(key);
        let mode_and_time = self.common().mode_and_time(lane.timestamp, point);
        let who = Who {
            event,
            thread,
            running: lane.running,
            of_cpu: lane.cpu.is_some(),
        };
        fill(&mut self.sampled, who, point, mode_and_time);
        self.sampled.sample.period = Some(period);
        self.sampled.period = period;
        let progress = lane.progress(point.instructions, point.cycles);
        let traced = Traced {
            flags: point.flags,
            instructions,
            cycles,
            code,
            depth,
            progress,
            payload,
        };
        self.sampled.traced = Some(traced);
        if Some(event) == self.events.branches {
            return sink.sample(machine, &self.sampled);
        }
        let mut sampled: SampleEvent<'_> = self.sampled;
        (sampled.sample.callchain, sampled.sample.branch_stack) =
            self.stacks.of_sample(key, point.from);
        sink.sample(machine, &sampled)
    }

    /// What tells of any moment.
    pub(crate) fn common(&self) -> Common<'_> {
        Common {
            images: &self.images,
            clock: self.clock,
            timeless: self.plan.timeless,
            with_code: self.with_code,
        }
    }

    /// The time of a TSC, where there is time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.common().time(tsc)
    }

    fn code(&self, lane: &Lane<'_>, point: &Point, machine: &Machine) -> TracedCode {
        let source = ThreadCode {
            machine,
            images: &self.images,
            thread: lane.running.thread,
        };
        Ran::at(lane.last, point).code(point, source, self.with_code)
    }
}
