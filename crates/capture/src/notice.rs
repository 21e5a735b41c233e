//! Notices of a recording while it runs: choices it made for the user and things it could not have.

use std::fmt;
use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

use oxperf_abi::Tid;
use oxperf_sys::{OpenArguments, OpenError};
use oxperf_tracepoint::TracepointError;

use crate::control_channel::ControlMessage;
use crate::explain::Explanation;
use crate::options::Rate;
use crate::plan::{Plan, PlannedEvent};
use crate::synthesize::{GuestProblem, KernelMapError};
use crate::unsupported::KernelFeature;

/// Something the user should hear of.
#[derive(Debug)]
pub enum Notice {
    /// The asked event does not exist here; another one takes its site.
    EventReplaced {
        /// The request.
        asked: String,
        /// The event that is recorded.
        used: String,
    },
    /// The kernel part of an event is forbidden; only user mode is recorded.
    UserModeOnly {
        /// The event's new name.
        event: String,
    },
    /// Guests are left out of an event.
    HostOnly {
        /// The event's new name.
        event: String,
    },
    /// An event cannot be opened and is left out.
    EventRemoved(Explanation),
    /// An event that the kernel does not count is left out.
    NotCounted {
        /// The event.
        event: String,
        /// Its PMU.
        pmu: String,
    },
    /// The kernel lacks a feature; the recording goes on without.
    FeatureUnsupported(KernelFeature),
    /// The asked rate is above the system's limit.
    RateLimited {
        /// The request.
        asked: Rate,
        /// The limit, in Hz.
        limit: u64,
    },
    /// The kernel's mapping is not recorded: its addresses keep no names on another machine.
    KernelMapMissing(KernelMapError),
    /// A guest's kernel is not described.
    GuestUndescribed(GuestProblem),
    /// A thread of the target ended before it could be recorded.
    ThreadGone(Tid),
    /// The tracepoints' formats cannot be read; the file has none.
    TracingDataMissing(TracepointError),
    /// No samples tell latencies of retirement, for this reason: they are those that were published.
    LatenciesNotSampled(String),
    /// Where threads cease to run is hidden; how long they do not run is recorded.
    OffCpuWithoutStacks,
    /// A trace was asked to have no trace in it.
    TraceForced,
    /// Nothing tells which tasks were traced in user space.
    TracedTasksUnknown,
    /// The size of a snapshot.
    SnapshotSize {
        /// Bytes of one area.
        bytes: usize,
    },
    /// The sizes of the pieces of trace in samples.
    TraceSampleSizes {
        /// The least.
        least: usize,
        /// The largest.
        most: usize,
    },
    /// A piece of trace that may have nothing in it from which a decoder can begin.
    TracePieceSmall {
        /// What it is: a snapshot, or a sample.
        piece: &'static str,
        /// Its size.
        bytes: u64,
        /// Bytes of trace between two places from which a decoder can begin.
        period: u64,
    },
    /// The workload did not end when it was asked to.
    WorkloadKilled {
        /// The program.
        program: String,
        /// The time for which it was waited for, unless the user asked again before.
        grace: Duration,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::EventReplaced { asked, used } => {
                write!(
                    f,
                    "The {asked} event is not supported, trying to fall back to {used}"
                )
            }
            Notice::UserModeOnly { event } => {
                write!(
                    f,
                    "kernel.perf_event_paranoid forbids kernel samples, recording {event} (user mode only)"
                )
            }
            Notice::HostOnly { event } => write!(f, "guests cannot be sampled, recording {event}"),
            Notice::NotCounted { event, pmu } => write!(
                f,
                "Event '{event}' on PMU '{pmu}' has a value and no samples: it is left out"
            ),
            Notice::EventRemoved(explanation) => {
                write!(f, "{explanation}\n(the event is left out)")
            }
            Notice::FeatureUnsupported(feature) => {
                write!(f, "this kernel has no {feature}, recording without")
            }
            Notice::RateLimited { asked, limit } => write_rate_limited(f, *asked, *limit),
            Notice::KernelMapMissing(error) => write!(
                f,
                "the kernel's mapping is not recorded, its symbols may be wrong elsewhere: {error}\n\
                 (as root: sysctl kernel.kptr_restrict=0)"
            ),
            Notice::GuestUndescribed(problem) => problem.fmt(f),
            Notice::ThreadGone(tid) => write!(f, "thread {tid} ended before it could be recorded"),
            Notice::TracingDataMissing(reason) => {
                write!(
                    f,
                    "the tracepoints' formats are not recorded, their fields cannot be shown: {reason}"
                )
            }
            Notice::LatenciesNotSampled(reason) => {
                write!(f, "latencies of retirement are not sampled: {reason}")
            }
            Notice::OffCpuWithoutStacks => f.write_str(
                "kernel.perf_event_paranoid forbids kernel samples: time off the CPU is recorded without stacks\n\
                 (as root: sysctl kernel.perf_event_paranoid=1)",
            ),
            Notice::TraceForced => f.write_str("pt=0 doesn't make sense, forcing pt=1"),
            Notice::TracedTasksUnknown => f.write_str(
                "Intel Processor Trace decoding will not be possible except for kernel tracing!",
            ),
            Notice::SnapshotSize { bytes } => write!(f, "Intel PT snapshot size: {bytes}"),
            Notice::TraceSampleSizes { least, most } => write!(
                f,
                "Intel PT min. sample size: {least} max. sample size: {most}"
            ),
            Notice::TracePieceSmall {
                piece,
                bytes,
                period,
            } => write!(
                f,
                "Intel PT {piece} size ({bytes}) may be too small for PSB period ({period})"
            ),
            Notice::WorkloadKilled { program, grace } => write!(
                f,
                "the workload '{program}' was killed: it did not end after SIGTERM, within {} s or before a second signal",
                grace.as_secs()
            ),
        }
    }
}

fn write_rate_limited(f: &mut fmt::Formatter<'_>, asked: Rate, limit: u64) -> fmt::Result {
    match asked {
        Rate::Frequency(hertz) => write!(
            f,
            "Maximum frequency rate ({limit} Hz) exceeded, throttling from {hertz} Hz to {limit} Hz.\n\
             (the limit is kernel.perf_event_max_sample_rate)"
        ),
        Rate::Period(_) => write!(f, "the sampling rate is limited to {limit} Hz"),
    }
}

/// A call that was to open an event, and the kernel's answer.
#[derive(Clone, Copy, Debug)]
pub struct OpenCall<'a> {
    /// The event.
    pub event: &'a PlannedEvent,
    /// `true` for the first call of several with the event's attribute.
    pub is_first: bool,
    /// What the kernel was given.
    pub arguments: OpenArguments,
    /// The new descriptor, or why there is none.
    pub answer: Result<RawFd, OpenError>,
}

/// A step in the course of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordingStep<'a> {
    /// The events and their rings are to be opened.
    Opening,
    /// An event writes to a ring.
    Ring {
        /// The place of the ring among all.
        index: usize,
        /// The event's descriptor.
        event: RawFd,
        /// The descriptor that the ring belongs to; `None` if it is the event's own.
        owner: Option<RawFd>,
    },
    /// All of them are open.
    Opened,
    /// What is there beside the events is described, and the program runs, if there is one.
    Started,
    /// Events count from now on, or no more.
    Counting(bool),
    /// A file of several is finished, and the next one begun.
    Switched {
        /// The name of the finished one.
        finished: &'a Path,
        /// The number of times that the recorder was woken to move records to it.
        wakeups: u64,
    },
    /// The rings are to be mapped.
    Mapping {
        /// Bytes of each, with its control page.
        ring: usize,
        /// Bytes of the area for trace of each, in a recording with a trace.
        area: Option<usize>,
    },
    /// Something of the recording itself is described in it.
    Describing(Described),
    /// A snapshot of a hardware trace is taken.
    Snapshot,
    /// The file is as large as it may be: the recording ends.
    SizeReached {
        /// Bytes of it.
        bytes: u64,
    },
}

/// What a recording says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Described {
    /// How cycles of the CPU become times of records.
    Clock,
    /// Which id belongs to which ring, CPU and thread.
    Ids,
    /// What a decoder of the trace has to know.
    Trace,
}

/// The receiver of a recording's notices.
pub trait Observer {
    /// Hears of something.
    fn notice(&mut self, notice: Notice);

    /// Sees each call that is to open an event, and its answer.
    fn tried(&mut self, _call: &OpenCall<'_>) {}

    /// Sees an event that no kernel counts, where this program begins to count it.
    fn counted_here(&mut self, _event: &PlannedEvent) {}

    /// Sees an event that is counted nowhere, with the kernel's answer.
    fn refused(&mut self, _event: &PlannedEvent, _error: OpenError) {}

    /// Follows the course of a recording.
    fn reached(&mut self, _step: RecordingStep<'_>) {}

    /// Sees a command that somebody gave a recording, after it was obeyed. `is_known` says that there is such an event.
    fn obeyed(&mut self, _message: &ControlMessage, _plan: &Plan, _is_known: bool) {}

    /// Sees what was opened, when the kernel has taken all of it.
    fn opened(&mut self, _plan: &Plan) {}
}

impl Observer for Vec<Notice> {
    fn notice(&mut self, notice: Notice) {
        self.push(notice);
    }
}
