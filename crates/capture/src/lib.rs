//! Recording: from what a user asks to a `perf.data` that perf and oxperf read.
//!
//! For programs that record: [`record`] does all of it, step by step as the modules say. [`Plan`] turns options and
//! events into attributes and places, as a pure function; [`fallback`] decides what to ask for when the kernel
//! refuses; [`Synthesizer`] writes what existed before; [`host`] tells about the machine. Nothing here prints, reads
//! the environment or exits: what a user should hear goes to [`Notes`], what stops a recording is a
//! [`CaptureError`] that says which setting forbids what and the command that allows it.
//!
//! What is not done here yet: directories and AUX traces.
//!
//! ```
//! use oxperf_abi::{Cpu, SoftwareId};
//! use oxperf_capture::{EventRequest, Missing, Plan, RecordOptions, Scene};
//!
//! let events = [EventRequest::software(SoftwareId::TaskClock, "task-clock")];
//! let scene = Scene { online: vec![Cpu(0), Cpu(1)], threads: Vec::new() };
//! let plan = Plan::new(&RecordOptions::default(), &events, &scene, Missing::default());
//! assert!(plan.to_string().starts_with("task-clock: type=1 config=0x1 freq=4000 sample=IP|TID|TIME|PERIOD"));
//! assert_eq!(plan.rings.len(), 2);
//! ```

mod acquire;
mod build_id;
mod control;
mod describe;
mod drain;
mod error;
mod event;
pub mod explain;
pub mod fallback;
mod finish;
pub mod host;
mod interrupts;
mod missing;
mod note;
mod open;
mod options;
mod output;
mod parallel;
pub mod plan;
mod record;
mod recording;
mod registers;
mod stream_output;
pub mod synthesize;
pub mod system;
mod target;
mod tracing;

pub use acquire::{Acquired, acquire};
pub use control::Ending;
pub use drain::Drain;
pub use error::CaptureError;
pub use event::{EventRequest, UnsupportedTerm};
pub use missing::{Feature, Missing};
pub use note::{Note, Notes};
pub use open::{OpenEvent, OpenEvents, Refusal};
pub use options::{
    BuildIds, CallGraph, Destination, Privilege, Program, Rate, RecordOptions, Start, Target,
};
pub use plan::{Plan, Scene};
pub use record::{Outcome, record};
pub use recording::{Records, Volume};
pub use registers::RegisterMask;
pub use synthesize::Synthesizer;
