//! The part of a sample that its point decides: task, time, place, and code.

use std::num::NonZeroU8;

use intel_pt::insn::classify;
use intel_pt::{CodeAddress, CodeSource, Located, Moment};
use oxperf_abi::{FileOffset, Misc, PerfTime};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::{EventIndex, SampleEvent, SampleFlags, Traced, TracedCode};
use oxperf_wire::Sample;

use super::point::{Point, known};
use crate::TscClock;
use crate::code::{Images, ThreadCode, code_width};
use crate::queue::QueueDecoder;
use crate::running::Running;

/// The settings of all samples of a recording.
#[derive(Clone, Copy)]
pub(crate) struct SampleSettings<'i> {
    pub(crate) images: &'i Images,
    pub(crate) clock: Option<TscClock>,
    pub(crate) timeless: bool,
    /// Samples hold the bytes of their instruction.
    pub(crate) with_code: bool,
}

impl<'m> SampleSettings<'m> {
    /// A sampler for an owner, as long as the machine stays the same.
    pub(crate) fn sampler(self, owner: SampleOwner, machine: &'m Machine) -> PointSampler<'m> {
        PointSampler {
            settings: self,
            machine,
            owner,
            generation: machine.generation(owner.thread),
        }
    }

    /// Fills in the part of a sample that its owner, time and point decide, but for its code.
    pub(crate) fn fill(
        self,
        sampled: &mut SampleEvent<'static>,
        owner: SampleOwner,
        timestamp: u64,
        point: &Point,
    ) {
        let SampleOwner {
            event,
            thread,
            running,
            of_cpu,
        } = owner;
        let anywhere = point.from.or(point.to).unwrap_or(0);
        let mode = self.images.mode_of(anywhere, point.guest);
        (sampled.event, sampled.thread) = (event, thread);
        sampled.misc = Misc(mode as u16);
        let sample = &mut sampled.sample;
        sample.ip = Some(point.from.unwrap_or(0));
        sample.addr = Some(point.to.unwrap_or(0));
        (sample.pid, sample.tid) = (Some(running.pid), Some(running.tid));
        (sample.time, sample.cpu) = (self.time(timestamp), running.cpu.filter(|_| of_cpu));
    }

    /// The time of a TSC; `None` where there is no time.
    pub(crate) fn time(self, tsc: u64) -> Option<PerfTime> {
        self.clock
            .filter(|_| !self.timeless)
            .map(|clock| clock.time(tsc))
    }
}

/// The event and the task of samples.
#[derive(Clone, Copy)]
pub(crate) struct SampleOwner {
    pub(crate) event: EventIndex,
    pub(crate) thread: ThreadId,
    pub(crate) running: Running,
    /// The trace is of a CPU.
    pub(crate) of_cpu: bool,
}

impl SampleOwner {
    /// The owner of an event's samples while a queue is as it is now.
    pub(crate) fn of_queue(
        queue: &QueueDecoder<'_>,
        event: EventIndex,
        thread: ThreadId,
    ) -> SampleOwner {
        SampleOwner {
            event,
            thread,
            running: queue.running,
            of_cpu: queue.is_of_cpu(),
        }
    }
}

/// Makes samples of points: the owner and the meaning of addresses are the same till a record comes.
#[derive(Clone, Copy)]
pub(crate) struct PointSampler<'m> {
    settings: SampleSettings<'m>,
    pub(crate) machine: &'m Machine,
    owner: SampleOwner,
    /// The meaning of addresses, as a number.
    pub(crate) generation: u64,
}

impl PointSampler<'_> {
    /// The sample of a point.
    pub(crate) fn sample(&self, point: &Point, timestamp: u64) -> SampleEvent<'static> {
        let mut sampled = empty_sample();
        self.settings
            .fill(&mut sampled, self.owner, timestamp, point);
        let SampleSettings {
            images, with_code, ..
        } = self.settings;
        let source = ThreadCode {
            machine: self.machine,
            images,
            thread: self.owner.running.thread,
        };
        let code = ShownInstruction::at(None, point).code(point, source, with_code);
        sampled.traced = Some(Traced {
            flags: point.flags,
            code,
            ..Traced::default()
        });
        sampled
    }

    /// A sample of a moment, without a place.
    pub(crate) fn moment(&self, timestamp: u64) -> SampleEvent<'static> {
        self.sample(&Point::at(None, &Moment::default()), timestamp)
    }

    /// The time of a TSC; `None` where there is no time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.settings.time(tsc)
    }
}

/// The instruction that a sample shows, if there is one.
pub(crate) struct ShownInstruction {
    ip: Option<u64>,
    /// `None` where the code has to be read for it.
    length: Option<NonZeroU8>,
}

impl ShownInstruction {
    /// The instruction at a point, or that after which an interrupt came; else the one that ran last.
    pub(crate) fn at(last: Option<Located>, point: &Point) -> ShownInstruction {
        let interrupts = SampleFlags::ASYNC | SampleFlags::TX_ABORT;
        let (ip, length) = if let Some(length) = point.length {
            (point.from, Some(length))
        } else if point.flags.meets(interrupts) {
            (point.from, None)
        } else {
            (
                last.map(|last| last.ip),
                last.and_then(|last| NonZeroU8::new(last.length)),
            )
        };
        ShownInstruction {
            ip: known(ip),
            length,
        }
    }

    /// Its width, length and, with `with_bytes`, its bytes.
    pub(crate) fn code(
        self,
        point: &Point,
        source: ThreadCode<'_>,
        with_bytes: bool,
    ) -> TracedCode {
        let mut code = TracedCode {
            width: code_width(point.width),
            length: self.length,
            ..TracedCode::default()
        };
        let Some(ip) = self.ip.filter(|_| with_bytes) else {
            return code;
        };
        let found = source.code(CodeAddress {
            ip,
            guest: point.guest,
        });
        let bytes = found.map_or(&[][..], |found| found.from(ip));
        if self.length.is_none() {
            code.length =
                classify(bytes, point.width).and_then(|found| NonZeroU8::new(found.length));
        }
        code.bytes
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        code
    }
}

/// A sample of which nothing is known.
pub(crate) fn empty_sample() -> SampleEvent<'static> {
    SampleEvent {
        event: EventIndex(0),
        offset: FileOffset(0),
        misc: Misc(0),
        sample: Sample::default(),
        thread: ThreadId(0),
        period: 1,
        traced: None,
        prefetched: None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use oxperf_abi::{Pid, Tid};

    use super::*;

    /// A thread that runs, with a clock that ticks once a nanosecond.
    pub(in crate::select) fn sampler<'m>(
        machine: &'m mut Machine,
        images: &'m Images,
    ) -> PointSampler<'m> {
        let (pid, tid) = (Pid(1), Tid(1));
        let thread = machine.thread(pid, tid);
        let running = Running {
            pid,
            tid,
            cpu: None,
            thread: Some(thread),
        };
        let clock = TscClock::new(0, 1, 0);
        PointSampler {
            settings: SampleSettings {
                images,
                clock,
                timeless: false,
                with_code: false,
            },
            machine,
            owner: SampleOwner {
                event: EventIndex(0),
                thread,
                running,
                of_cpu: false,
            },
            generation: 0,
        }
    }
}
