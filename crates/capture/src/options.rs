//! The options of a recording, as values: the target, the sampling and the output are separate, because whoever counts
//! has a target and no samples.

mod draining;
mod guests;
mod output;
mod sampling;
mod synthesis;
mod target;
mod trace;
mod windows;

use std::path::PathBuf;

use oxperf_sys::Sysfs;

pub use draining::{Draining, ReaderAffinity, ThreadLayout, ThreadMasks};
pub use guests::{GuestFiles, RecordedSides};
pub use output::{
    BuildIdPolicy, Destination, DirectoryRecords, OutputOptions, Rotation, SwitchCause,
};
pub use sampling::{CallGraph, ChainParts, ExtraRecords, Rate, SamplingOptions};
pub use synthesis::SynthesisOptions;
pub use target::{Privilege, Program, Start, Target, TargetOptions};
pub use trace::{AuxOptions, SnapshotOptions, TraceSampleSize, TraceSwitches, TracedSampling};
pub use windows::Windows;

/// All options of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecordOptions {
    /// Whose events.
    pub target: TargetOptions,
    /// When counting, once begun, pauses and ends.
    pub windows: Windows,
    /// Rate and fields of samples.
    pub sampling: SamplingOptions,
    /// What is kept of a hardware trace.
    pub trace: AuxOptions,
    /// The records of what existed before.
    pub synthesis: SynthesisOptions,
    /// The priority of the recorder before all programs without one, from 1 to 99.
    pub realtime_priority: Option<i32>,
    /// The file, stream or directory.
    pub output: OutputOptions,
    /// Whoever drains the rings.
    pub draining: Draining,
    /// The description of this machine's CPUs and PMUs.
    pub sysfs: Sysfs,
    /// A folder where each event that is opened is described in a file of its own; `None` to describe none.
    pub open_log: Option<PathBuf>,
}
