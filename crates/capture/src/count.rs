//! Counting: events are opened, enabled, read at moments of the caller's choice, and closed with the target.
//!
//! ```text
//! open -> start -> wait for news: an interval is over, the end -> read, at any time -> finish
//! ```
//!
//! [`CountingRun`] is one run of a workload or one watch of a target; a measurement that repeats makes several. What the
//! counts mean is the caller's business.

mod counters;
mod course;
mod latency;
mod moves;
mod opening;
mod own;
mod recorder;

use std::cell::RefCell;
use std::time::Duration;

use oxperf_sys::{CpuUsage, Kernel, Sysfs};

use crate::control::Ending;
use crate::control_channel::ControlChannel;
use crate::event::EventRequest;
use crate::explain::Explanation;
use crate::options::TargetOptions;

pub use counters::{CountedEvent, Counters};
pub use course::{CountNews, CountingRun};
pub use latency::{LatencyChoice, LatencyOptions};
pub use own::{PresentValue, present_value};
pub use recorder::{CountRecordOptions, CountRecorder, RoundKind, StatSettings};

/// All that a counting run is told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CountOptions {
    /// Whose events.
    pub target: TargetOptions,
    /// The time between two readings of the counters while the run goes on.
    pub interval: Option<Duration>,
    /// The readings after which the run ends.
    pub interval_count: Option<u32>,
    /// The time after which the run ends.
    pub timeout: Option<Duration>,
    /// Counters of other CPUs are reached from where this thread runs: it does not go there.
    pub stays_on_cpu: bool,
    /// The description of this machine's CPUs and PMUs.
    pub sysfs: Sysfs,
    /// Counts are recorded to standard output: what the workload prints goes to standard error, and counters have no ids in
    /// their samples, as perf's.
    pub to_stream: bool,
    /// Where latencies of retirement come from.
    pub latencies: LatencyOptions,
}

/// An event to count, with what an earlier run found out about it.
#[derive(Clone, PartialEq, Debug)]
pub struct CountRequest {
    /// The event.
    pub event: EventRequest,
    /// What was found out.
    pub findings: Findings,
}

/// What a run found out about an event.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Findings {
    /// The reason why nothing here counts it.
    pub refusal: Option<Explanation>,
    /// The name of the event whose place it took.
    pub replaces: Option<String>,
}

impl CountRequest {
    fn split(self) -> (EventRequest, Findings) {
        (self.event, self.findings)
    }
}

impl From<EventRequest> for CountRequest {
    fn from(event: EventRequest) -> CountRequest {
        CountRequest {
            event,
            findings: Findings::default(),
        }
    }
}

/// The surroundings of a run.
#[derive(Clone, Copy)]
pub struct CountContext<'a> {
    /// The kernel.
    pub kernel: &'a dyn Kernel,
    /// The options.
    pub options: &'a CountOptions,
    /// Where commands come from while the run goes on.
    pub control: Option<&'a RefCell<ControlChannel>>,
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CountOutcome {
    /// The time from the start of counting to the end of the target.
    pub elapsed: Duration,
    /// The processor time of the workload and its children, where there was one.
    pub usage: Option<CpuUsage>,
    /// The workload's status, and the signal that ended the run.
    pub ending: Ending,
}

#[cfg(test)]
mod tests;
