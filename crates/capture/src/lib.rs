//! Recording: from what a user asks to a `perf.data` that perf and oxperf read.
//!
//! For programs that record: [`record`] does all of it, step by step as the modules say. [`Plan`] turns options and
//! events into attributes and sites, as a pure function, for counting or for sampling; [`acquire`] opens a plan and asks
//! for less where the kernel refuses ([`fallback`]); [`Drain`] moves what the rings bring; [`Synthesizer`] writes what
//! existed before; [`host_files`] describes the machine. Nothing here prints, reads the environment or exits: what a
//! user should know goes to an [`Observer`], and what stops a recording is a [`CaptureError`] that names the setting
//! that forbids it and the command that allows it.
//!
//! ```
//! use oxperf_abi::{Cpu, SoftwareId};
//! use oxperf_capture::{
//!     EventRequest, MachineInfo, Plan, Purpose, SamplingOptions, TargetOptions, Unsupported,
//! };
//!
//! let events = [EventRequest::software(SoftwareId::TaskClock, "task-clock")];
//! let machine = MachineInfo { online: vec![Cpu(0), Cpu(1)], threads: Vec::new(), is_hybrid: false };
//! let (target, sampling) = (TargetOptions::default(), SamplingOptions::default());
//! let plan = |purpose| Plan::new(&target, purpose, &events, &machine, Unsupported::default());
//! let sampled = plan(Purpose::Sampling(&sampling));
//! assert!(sampled.to_string().starts_with("task-clock: type=1 config=0x1 freq=4000 sample=IP|TID|TIME|PERIOD"));
//! assert_eq!(sampled.rings.len(), 2);
//! assert!(plan(Purpose::Counting).rings.is_empty());
//! ```

mod acquire;
mod bpf;
mod build_id;
mod cgroup;
mod control;
mod control_channel;
pub mod count;
mod describe;
pub mod drain;
mod error;
mod event;
pub mod explain;
pub mod fallback;
mod finish;
pub mod host_files;
mod interrupts;
mod kernel_code;
mod losses;
mod machine_info;
mod notice;
mod off_cpu;
mod open;
mod options;
mod output;
mod parallel;
pub mod plan;
mod readers;
mod record;
mod registers;
mod rotation;
mod switch_events;
pub mod synthesize;
pub mod system;
mod trace;
mod tracing;
mod unsupported;
mod wake;

pub use acquire::{Acquired, OpenContext, acquire};
pub use cgroup::{CgroupTree, CountedCgroup};
pub use control::Ending;
pub use control_channel::{ControlChannel, ControlCommand, ControlMessage};
pub use drain::{Drain, LayoutError};
pub use error::CaptureError;
pub use event::{AuxAction, AuxRequest, EventRequest};
pub use losses::{EventLoss, TraceCount};
pub use notice::{Described, Notice, Observer, OpenCall, RecordingStep};
pub use open::{AuxArea, AuxAreaSizes, MappedRings, OpenEvent, OpenEvents, Refusal, RingSizes};
pub use options::{
    AuxOptions, BuildIdPolicy, CallGraph, ChainParts, Destination, DirectoryRecords, Draining,
    ExtraRecords, GuestFiles, OutputOptions, Privilege, Program, Rate, ReaderAffinity,
    RecordOptions, RecordedSides, Rotation, SamplingOptions, SnapshotOptions, Start, SwitchCause,
    SynthesisOptions, Target, TargetOptions, ThreadLayout, ThreadMasks, TraceSampleSize,
    TraceSwitches, TracedSampling, Windows,
};
pub use output::{RecordOutput, Volume};
pub use plan::{MachineInfo, Plan, Purpose, Requests};
pub use record::{Outcome, RecordRequests, record, record_on};
pub use registers::RegisterMask;
pub use synthesize::{Synthesizer, TaskContent};
pub use trace::TraceError;
pub use unsupported::{KernelFeature, Unsupported};
