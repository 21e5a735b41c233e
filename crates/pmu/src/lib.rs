//! Event text to attributes: what `-e` takes, resolved against the PMUs of a system.
//!
//! For a recorder that must turn `cpu-clock:u`, `{cycles,instructions}:S`, `cpu/event=0xc0,umask=1/`,
//! `sched:sched_*` or `mem:0x1000/8:w` into values for `perf_event_open`, with perf's names, rules and error
//! texts. Two steps: [`parse`] reads the text alone; [`resolve`] looks names up in a [`Catalogue`], which reads PMUs once,
//! of PMUs
//! ([`PmuSource`]) and tracepoints ([`TracepointSource`]), both replaceable so that any machine's catalogue can be
//! tested anywhere.
//!
//! This crate opens no event and knows nothing of sampling policy: period, call graphs and fallbacks belong to
//! the recorder, which gets an event's own terms in [`ResolvedEvent`]. Events that only tables of the CPU's model know are
//! found where a catalogue has such tables ([`Catalogue::with_tables`]). [`metrics`] has the metrics of a system, for planning
//! by `oxperf-metric`, whose plans are event text again.
//!
//! ```
//! use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};
//!
//! let pmus = MemoryPmus::new().pmu("cpu", 4).format("event", "config:0-7").format("umask", "config:8-15");
//! let tracepoints = MemoryTracepoints::default();
//! let catalogue = Catalogue::new(&pmus, &tracepoints);
//! let events = resolve(&parse("cpu/event=0xc0,umask=1/u").unwrap(), &catalogue).unwrap();
//! assert_eq!((events[0].name.as_str(), events[0].attr.config), ("cpu/event=0xc0,umask=1/u", 0x1c0));
//! ```

pub mod address_filter;
pub mod builtin;
mod catalogue;
mod cpu_model;
mod drm;
mod error;
mod generic;
pub mod glob;
mod hwmon;
pub mod metrics;
mod near;
mod resolve;
mod syntax;
mod sysfs;
pub mod tool;
mod tracepoints;
mod user_space;

pub use catalogue::{Catalogue, PmuDescription, PmuEvent, PmuFormat};
pub use cpu_model::CpuModel;
pub use drm::DrmPmus;
pub use error::{SyntaxError, SyntaxProblem};
pub use generic::{hardware_or_cache as generic_event, is_counted};
pub use hwmon::HwmonPmus;
pub use resolve::{
    AuxAction, CallGraphTerm, RateTerm, ResolvedEvent, SampleTerms, SideLetters, TracepointName,
    UnknownBits, resolve,
};
pub use syntax::{
    BreakpointAccess, EventForm, EventList, EventSpec, GroupSpec, ListItem, Modifiers, Term,
    TermValue, parse,
};
pub use sysfs::{BitRanges, ConfigWord, MemoryPmus, PmuSource, SystemPmus, is_kernel_kind};
pub use tracepoints::{MemoryTracepoints, TracepointSource};
pub use user_space::{UserSpaceEvent, UserSpacePmus};
