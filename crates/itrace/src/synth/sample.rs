//! Points as samples: what every sample says, its code, its counts and its stacks.

use std::ops::ControlFlow;

use intel_pt::insn::classify;
use intel_pt::{CodeAddress, CodeSource, Moment};
use oxperf_abi::{FileOffset, Misc, PerfTime};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::{EventIndex, Payload, SampleEvent, SampleFlags, Sink, Traced, TracedCode};
use oxperf_wire::Sample;

use super::stacks::StackKey;
use super::{Point, Synthesizer};
use crate::TscClock;
use crate::code::{Images, ThreadCode, code_width};
use crate::lane::Lane;

impl Synthesizer {
    /// Hands a sample to the sink.
    pub(super) fn hand_over(
        &mut self,
        lane: &mut Lane<'_>,
        (event, period, (instructions, cycles), payload): (EventIndex, u64, (u64, u64), Option<Payload>),
        point: &Point,
        machine: &mut Machine,
        sink: &mut impl Sink,
    ) -> ControlFlow<()> {
        let thread = thread_of(lane, machine);
        let code = self.code(lane, point, machine);
        let key = StackKey::new(machine, thread, lane.running.cpu);
        let depth = self.stacks.depth(key);
        let mode_and_time = self.common().mode_and_time(lane, point);
        fill(&mut self.sampled, lane, (event, thread, point), mode_and_time);
        self.sampled.sample.period = Some(period);
        self.sampled.period = period;
        let progress = lane.progress(point.instructions, point.cycles);
        let traced = Traced { flags: point.flags, instructions, cycles, code, depth, progress, payload };
        self.sampled.traced = Some(traced);
        if Some(event) == self.events.branches {
            return sink.sample(machine, &self.sampled);
        }
        let mut sampled: SampleEvent<'_> = self.sampled;
        (sampled.sample.callchain, sampled.sample.branch_stack) = self.stacks.of_sample(key, point.from);
        sink.sample(machine, &sampled)
    }

    /// What tells of any moment.
    pub(crate) fn common(&self) -> Common<'_> {
        Common { images: &self.images, clock: self.clock, timeless: self.plan.timeless }
    }

    /// The time of a TSC, where there is time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.common().time(tsc)
    }

    fn code(&self, lane: &Lane<'_>, point: &Point, machine: &Machine) -> TracedCode {
        let ran = Ran::at(lane, point);
        let mut code = TracedCode {
            width: code_width(point.width),
            length: ran.length.unwrap_or(0),
            ..TracedCode::default()
        };
        if !self.with_code || ran.ip == 0 {
            return code;
        }
        let source = ThreadCode { machine, images: &self.images, thread: lane.running.thread };
        let found = source.code(CodeAddress { ip: ran.ip, guest: point.guest });
        let bytes = found.map_or(&[][..], |found| found.from(ran.ip));
        if ran.length.is_none() {
            code.length = classify(bytes, point.width).map_or(0, |found| found.length);
        }
        code.bytes.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        code
    }
}

/// What is the same for all samples: whose addresses are, and when anything happened.
#[derive(Clone, Copy)]
pub(crate) struct Common<'i> {
    pub(crate) images: &'i Images,
    pub(crate) clock: Option<TscClock>,
    pub(crate) timeless: bool,
}

impl Common<'_> {
    /// What samples have in common that are handed over as text.
    pub(crate) fn of_text(
        self,
        lane: &Lane<'_>,
        event: EventIndex,
        thread: ThreadId,
    ) -> SampleEvent<'static> {
        let mut sampled = unfilled();
        let nowhere = Point::at(0, &Moment::default());
        fill(&mut sampled, lane, (event, thread, &nowhere), self.mode_and_time(lane, &nowhere));
        sampled
    }

    fn mode_and_time(self, lane: &Lane<'_>, point: &Point) -> (Misc, Option<PerfTime>) {
        let anywhere = if point.from == 0 { point.to } else { point.from };
        (Misc(self.images.mode_of(anywhere, point.guest) as u16), self.time(lane.timestamp))
    }

    fn time(self, tsc: u64) -> Option<PerfTime> {
        self.clock.filter(|_| !self.timeless).map(|clock| clock.time(tsc))
    }
}

/// The instruction that a sample shows.
struct Ran {
    /// 0 where there is none.
    ip: u64,
    /// `None` where only the code tells.
    length: Option<u8>,
}

impl Ran {
    /// Where tracing begins and with events it is the one that ran last; where an interrupt came, the next.
    fn at(lane: &Lane<'_>, point: &Point) -> Ran {
        if point.length != 0 {
            return Ran { ip: point.from, length: Some(point.length) };
        }
        if point.flags.meets(SampleFlags::ASYNC | SampleFlags::TX_ABORT) {
            return Ran { ip: point.from, length: None };
        }
        lane.last.map_or(Ran { ip: 0, length: None }, |last| Ran { ip: last.ip, length: Some(last.length) })
    }
}

/// Fills in what every sample says.
fn fill(
    sampled: &mut SampleEvent<'static>,
    lane: &Lane<'_>,
    (event, thread, point): (EventIndex, ThreadId, &Point),
    (mode, time): (Misc, Option<PerfTime>),
) {
    (sampled.event, sampled.thread, sampled.misc) = (event, thread, mode);
    let (running, sample) = (lane.running, &mut sampled.sample);
    (sample.ip, sample.addr) = (Some(point.from), Some(point.to));
    (sample.pid, sample.tid) = (Some(running.pid), Some(running.tid));
    (sample.time, sample.cpu) = (time, running.cpu.filter(|_| lane.cpu.is_some()));
}

/// The thread of a lane's samples.
pub(crate) fn thread_of(lane: &Lane<'_>, machine: &mut Machine) -> ThreadId {
    lane.running.thread.unwrap_or_else(|| machine.thread(lane.running.pid, lane.running.tid))
}

/// A sample of which nothing is known.
pub(super) fn unfilled() -> SampleEvent<'static> {
    SampleEvent {
        event: EventIndex(0),
        offset: FileOffset(0),
        misc: Misc(0),
        sample: Sample::default(),
        thread: ThreadId(0),
        period: 1,
        traced: None,
        ahead: None,
    }
}
