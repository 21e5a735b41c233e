//! What every sample of a point says, and its code.

use intel_pt::insn::classify;
use intel_pt::{CodeAddress, CodeSource, Located, Moment};
use oxperf_abi::{FileOffset, Misc, PerfTime};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::{EventIndex, SampleEvent, SampleFlags, Traced, TracedCode};
use oxperf_wire::Sample;

use super::Point;
use crate::TscClock;
use crate::code::{Images, ThreadCode, code_width};
use crate::queue::Lane;
use crate::running::Running;

/// What tells of any moment.
#[derive(Clone, Copy)]
pub(crate) struct Common<'i> {
    pub(crate) images: &'i Images,
    pub(crate) clock: Option<TscClock>,
    pub(crate) timeless: bool,
    /// Whether samples are to hold the bytes of their instruction.
    pub(crate) with_code: bool,
}

impl<'m> Common<'m> {
    /// Whose samples an event's are while a lane is as it is now.
    pub(crate) fn scene(
        self,
        lane: &Lane<'_>,
        (event, thread): (EventIndex, ThreadId),
        machine: &'m Machine,
    ) -> Scene<'m> {
        let generation = machine.generation(thread);
        Scene {
            common: self,
            machine,
            who: Who {
                event,
                thread,
                running: lane.running,
                of_cpu: lane.cpu.is_some(),
            },
            generation,
        }
    }

    pub(crate) fn mode_and_time(self, timestamp: u64, point: &Point) -> (Misc, Option<PerfTime>) {
        let anywhere = if point.from == 0 {
            point.to
        } else {
            point.from
        };
        (
            Misc(self.images.mode_of(anywhere, point.guest) as u16),
            self.time(timestamp),
        )
    }

    pub(crate) fn time(self, tsc: u64) -> Option<PerfTime> {
        self.clock
            .filter(|_| !self.timeless)
            .map(|clock| clock.time(tsc))
    }
}

/// Whose samples are made, and of which event.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    pub(crate) event: EventIndex,
    pub(crate) thread: ThreadId,
    pub(crate) running: Running,
    /// Whether the trace is of a CPU.
    pub(crate) of_cpu: bool,
}

/// Whose samples are made, and what addresses mean: the same till a record comes.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'m> {
    common: Common<'m>,
    pub(crate) machine: &'m Machine,
    who: Who,
    /// What addresses mean, as a number.
    pub(crate) generation: u64,
}

impl Scene<'_> {
    /// A sample that code made at a place.
    pub(crate) fn sample(&self, point: &Point, timestamp: u64) -> SampleEvent<'static> {
        let mut sampled = unfilled();
        fill(
            &mut sampled,
            self.who,
            point,
            self.common.mode_and_time(timestamp, point),
        );
        let Common {
            images, with_code, ..
        } = self.common;
        let source = ThreadCode {
            machine: self.machine,
            images,
            thread: self.who.running.thread,
        };
        let code = Ran::at(None, point).code(point, source, with_code);
        sampled.traced = Some(Traced {
            flags: point.flags,
            code,
            ..Traced::default()
        });
        sampled
    }

    /// What its samples have in common.
    pub(crate) fn moment(&self, timestamp: u64) -> SampleEvent<'static> {
        self.sample(&Point::at(0, &Moment::default()), timestamp)
    }

    /// The time of a TSC, where there is time.
    pub(crate) fn time(&self, tsc: u64) -> Option<PerfTime> {
        self.common.time(tsc)
    }
}

/// The instruction that a sample shows.
pub(crate) struct Ran {
    /// 0 where there is none.
    ip: u64,
    /// `None` where only the code tells.
    length: Option<u8>,
}

impl Ran {
    /// Where tracing begins and with events it is the one that ran last; where an interrupt came, the next.
    pub(crate) fn at(last: Option<Located>, point: &Point) -> Ran {
        if point.length != 0 {
            return Ran {
                ip: point.from,
                length: Some(point.length),
            };
        }
        if point
            .flags
            .meets(SampleFlags::ASYNC | SampleFlags::TX_ABORT)
        {
            return Ran {
                ip: point.from,
                length: None,
            };
        }
        last.map_or(
            Ran {
                ip: 0,
                length: None,
            },
            |last| Ran {
                ip: last.ip,
                length: Some(last.length),
            },
        )
    }

    pub(crate) fn code(
        self,
        point: &Point,
        source: ThreadCode<'_>,
        with_bytes: bool,
    ) -> TracedCode {
        let mut code = TracedCode {
            width: code_width(point.width),
            length: self.length.unwrap_or(0),
            ..TracedCode::default()
        };
        if !with_bytes || self.ip == 0 {
            return code;
        }
        let found = source.code(CodeAddress {
            ip: self.ip,
            guest: point.guest,
        });
        let bytes = found.map_or(&[][..], |found| found.from(self.ip));
        if self.length.is_none() {
            code.length = classify(bytes, point.width).map_or(0, |found| found.length);
        }
        code.bytes
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        code
    }
}

/// Fills in what every sample says.
pub(crate) fn fill(
    sampled: &mut SampleEvent<'static>,
    who: Who,
    point: &Point,
    (mode, time): (Misc, Option<PerfTime>),
) {
    let Who {
        event,
        thread,
        running,
        of_cpu,
    } = who;
    (sampled.event, sampled.thread, sampled.misc) = (event, thread, mode);
    let sample = &mut sampled.sample;
    (sample.ip, sample.addr) = (Some(point.from), Some(point.to));
    (sample.pid, sample.tid) = (Some(running.pid), Some(running.tid));
    (sample.time, sample.cpu) = (time, running.cpu.filter(|_| of_cpu));
}

/// The thread of a lane's samples.
pub(crate) fn thread_of(lane: &Lane<'_>, machine: &mut Machine) -> ThreadId {
    lane.running
        .thread
        .unwrap_or_else(|| machine.thread(lane.running.pid, lane.running.tid))
}

/// A sample of which nothing is known.
pub(crate) fn unfilled() -> SampleEvent<'static> {
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
    pub(in crate::select) fn scene<'m>(machine: &'m mut Machine, images: &'m Images) -> Scene<'m> {
        let (pid, tid) = (Pid(1), Tid(1));
        let thread = machine.thread(pid, tid);
        let running = Running {
            pid,
            tid,
            cpu: None,
            thread: Some(thread),
        };
        let clock = TscClock::new(0, 1, 0);
        Scene {
            common: Common {
                images,
                clock,
                timeless: false,
                with_code: false,
            },
            machine,
            who: Who {
                event: EventIndex(0),
                thread,
                running,
                of_cpu: false,
            },
            generation: 0,
        }
    }
}
