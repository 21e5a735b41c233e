//! The reasons why a trace cannot be recorded as it is asked for.

use crate::options::TraceSampleSize;

/// Something that cannot be, in perf's words where it has some.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceError {
    /// A snapshot of a trace that there is not.
    #[error("No AUX area tracing to snapshot")]
    NothingToSnapshot,
    /// A piece of a trace that there is not.
    #[error("No AUX area event to sample")]
    NothingToSample,
    /// No event has a piece of trace in its samples.
    #[error(
        "AUX area sampling requires an AUX area event group leader plus other events to which to add samples"
    )]
    NobodySamples,
    /// A trace has no samples that a piece of it could be in.
    #[error("Cannot add AUX area sampling to an AUX area event")]
    SamplesOfTrace,
    /// The event is in no group.
    #[error("Cannot add AUX area sampling to a group leader")]
    SamplesOfLeader,
    /// The event is in the group of another event.
    #[error("Cannot add AUX area sampling because group leader is not an AUX area event")]
    SamplesElsewhere,
    /// A sample of more than a record holds.
    #[error("AUX area sample size {size} too big, max. {}", TraceSampleSize::MOST)]
    SampleTooBig {
        /// Bytes of a sample.
        size: u32,
    },
    /// A trace is kept in two ways.
    #[error("Snapshot mode (intel_pt PMU) and sample trace cannot be used together")]
    SnapshotAndSamples,
    /// An event that is no trace begins paused.
    #[error("aux-action 'start-paused' can only be used with AUX area event")]
    BeginsPaused,
    /// A trace that pauses or resumes a trace.
    #[error("aux-action '{0}' cannot be used for AUX area event itself")]
    ActsOnItself(&'static str),
    /// An event acts on the trace of its group, which has none.
    #[error("Events with aux-action must have AUX area event group leader")]
    ActsOnNothing,
    /// More than one trace.
    #[error("There may be only one intel_pt event")]
    Several,
    /// Times of another clock than the kernel's.
    #[error("Cannot use clockid (-k option) with intel_pt")]
    Clock,
    /// Rings that keep the newest records: nobody would know to which of them the trace belongs.
    #[error(
        "--overwrite cannot stand beside a hardware trace: keep the newest trace with -S, and write it at the end with -Se"
    )]
    Overwrite,
    /// A value that this CPU does not have.
    #[error("Invalid {term} for intel_pt. Valid values are: {valid}")]
    Term {
        /// The term.
        term: &'static str,
        /// The values that it has, as a list.
        valid: String,
    },
    /// An area that the hardware cannot fill.
    #[error(
        "Invalid mmap size for Intel Processor Trace: must be at least {least}KiB and a power of 2"
    )]
    Area {
        /// The least size, in KiB.
        least: usize,
    },
    /// A snapshot of more than there is.
    #[error("Snapshot size {size} must not be greater than AUX area tracing mmap size {area}")]
    SnapshotSize {
        /// Bytes of a snapshot.
        size: usize,
        /// Bytes of an area.
        area: usize,
    },
    /// A sample of more than there is.
    #[error("Sample size {size} must not be greater than AUX area tracing mmap size {area}")]
    SampleSize {
        /// Bytes of a sample.
        size: usize,
        /// Bytes of an area.
        area: usize,
    },
}
