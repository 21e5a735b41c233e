//! The hardware trace in a recording, decoded into samples.
//!
//! For commands that show or count samples: what `--itrace` asks for ([`ItraceOptions`]) is made of the recording's
//! Intel PT trace. How trace bytes and code become control flow is the crate `intel-pt`'s business; what a sample is
//! called and how it looks is decided above. Nothing here prints.
//!
//! ```
//! use oxperf_itrace::{ItraceOptions, SynthPeriod};
//! let options = ItraceOptions::parse("i10us crg32")?;
//! assert_eq!(options.period, SynthPeriod::Nanoseconds(10_000));
//! assert_eq!(ItraceOptions::parse("bk").unwrap_err().to_string(), "Bad Instruction Tracing options 'bk'");
//! # Ok::<(), oxperf_itrace::OptionsError>(())
//! ```

mod clock;
mod code;
mod data_source;
mod decoded;
mod errors;
mod events;
mod feed;
mod info;
mod log;
mod options;
mod overlap;
mod parallel;
mod pebs_event;
mod plan;
mod queue;
mod running;
mod select;
mod stack;
mod switch;
mod synth;
mod trace;
mod tracer;
mod window;

pub use clock::TscClock;
pub use code::{CodeBytes, CodeInstruction, CodeSearchPaths, Images, KernelSearchPaths};
pub use info::{INTEL_PT, InfoError, PtInfo, SwitchRecords};
pub use log::LogWriter;
pub use options::{
    ErrorSelection, EventSelection, ItraceOptions, Letters, LogSelection, OptionsError,
    StackSelection, SynthPeriod,
};
pub use overlap::{NewPart, new_part};
pub use parallel::Cores;
pub use plan::DecodePlan;
pub use switch::SchedSwitch;
pub use trace::{CodeChange, CpuFilter, Trace, TraceBuffer, TraceQueue};
pub use tracer::{Tracer, TracerOptions};
pub use window::Window;
