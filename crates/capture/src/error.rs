//! The reason why a recording could not be made.

use std::io;
use std::path::PathBuf;

use oxperf_abi::Cpu;
use oxperf_data::WriteError;
use oxperf_sys::{Errno, OpenLogError, SignalError, SpawnError};

use crate::drain::LayoutError;
use crate::explain::{Explanation, RingExplanation};
use crate::options::Destination;
use crate::trace::TraceError;

/// The reasons that stop a recording.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The kernel does not take the filter of a tracepoint.
    #[error("failed to set filter \"{filter}\" on event {event}: {}", Errno::of(.source))]
    Filter {
        /// The event.
        event: String,
        /// The filter.
        filter: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The system does not allow the rate, and the user wants no lower one.
    #[error(
        "error: Maximum frequency rate ({limit} Hz) exceeded.\n       \
         Please use -F freq option with a lower value or consider\n       \
         tweaking /proc/sys/kernel/perf_event_max_sample_rate."
    )]
    RateLimit {
        /// The highest rate, in Hz.
        limit: u64,
    },
    /// The recorder does not get its priority.
    #[error("Could not set realtime priority. ({priority}: {})", Errno::of(.source))]
    Priority {
        /// The priority.
        priority: i32,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The kernel has no such clock.
    #[error("the kernel has no clock with number {number}: {source}")]
    Clock {
        /// Its number.
        number: i32,
        /// The kernel's answer.
        source: io::Error,
    },
    /// No event can be opened; the last refusal.
    #[error("{0}")]
    NoEvent(Explanation),
    /// The last event is one that the kernel does not count.
    #[error(
        "Failed to open event '{event}' on PMU '{pmu}': it has a value and no samples; count it with stat"
    )]
    NotCounted {
        /// The event.
        event: String,
        /// Its PMU.
        pmu: String,
    },
    /// A hardware trace cannot be recorded as it is asked for.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A trace is moved by the recorder's own thread.
    #[error("Parallel trace streaming is not available in AUX area tracing mode.")]
    ThreadsOfTrace,
    /// No event was asked for.
    #[error("no event to record")]
    NothingAsked,
    /// Neither of the target's tasks exists.
    #[error("Couldn't create thread/CPU maps: No such process")]
    NoSuchProcess,
    /// A CPU that is not online.
    #[error("CPU {cpu} is not online (online: {online})")]
    CpuOffline {
        /// The CPU.
        cpu: Cpu,
        /// Those that are, as a list.
        online: String,
    },
    /// The list of CPUs cannot be read.
    #[error("cannot tell which CPUs are online: {0}")]
    Cpus(io::Error),
    /// The workload cannot be started.
    #[error("Failed to start the '{program}' workload: {source}")]
    Workload {
        /// The program.
        program: String,
        /// The reason why not.
        source: SpawnError,
    },
    /// An event was opened and could not be described in its file.
    #[error(transparent)]
    OpenLog(#[from] OpenLogError),
    /// Signals cannot be caught.
    #[error(transparent)]
    Signals(#[from] SignalError),
    /// A ring cannot be mapped.
    #[error("{0}")]
    Ring(RingExplanation),
    /// A ring size that no ring can have.
    #[error("a ring of {pages} pages cannot be mapped: give -m a smaller power of two")]
    RingSize {
        /// Data pages.
        pages: usize,
    },
    /// The output cannot be made.
    #[error("failed to open {to} : {}", reason(.source))]
    Output {
        /// The output.
        to: Destination,
        /// The reason.
        source: io::Error,
    },
    /// The kernel's code cannot be copied.
    #[error("cannot copy the kernel's code out of {}/kcore with the lists beside it, which --kcore asks for: {}", source_folder.display(), reason(.error))]
    KernelCode {
        /// The folder that has both.
        source_folder: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The output took a part only, as a full disk does.
    #[error("failed to write {to}: {}. {}", reason(&.source.source), safe_text(.to, .source))]
    Write {
        /// The output.
        to: Destination,
        /// The part that was not written, and the kernel's answer.
        source: WriteError,
    },
    /// The finished file cannot be read back for its build ids and times.
    #[error("cannot read {from} back: {reason}")]
    ReadBack {
        /// The file.
        from: Destination,
        /// The reason.
        reason: String,
    },
    /// The threads that drain cannot be as the user states them.
    #[error("{0}\nFailed to initialize parallel data streaming masks")]
    Threads(LayoutError),
    /// The rings are those of tasks, and threads drain those of CPUs.
    #[error(
        "--per-thread option is mutually exclusive to parallel streaming mode.\nFailed to initialize parallel data streaming masks"
    )]
    ThreadsOfTasks,
    /// No thread can be started to drain.
    #[error("cannot start a thread that drains rings: {0}. Record without --threads")]
    ThreadStart(io::Error),
    /// Counting cannot be started.
    #[error("cannot start counting: {0}")]
    Enable(io::Error),
    /// A ring that keeps the newest records cannot be held still to be copied.
    #[error("cannot pause a ring to copy its newest records: {0}")]
    Pause(io::Error),
    /// Waiting for records failed.
    #[error("cannot wait for records: {0}")]
    Wait(io::Error),
}

/// The kernel's answer, or what was found here.
fn reason(error: &io::Error) -> String {
    error
        .raw_os_error()
        .map_or_else(|| error.to_string(), |number| Errno(number).to_string())
}

fn safe_text(to: &Destination, error: &WriteError) -> String {
    let kept = match to {
        Destination::File(_) | Destination::Directory(..) => {
            "The file holds what was recorded until then"
        }
        Destination::StandardOutput => "Its reader got what was recorded until then",
    };
    format!("{kept} ({} bytes of records)", error.safe)
}
