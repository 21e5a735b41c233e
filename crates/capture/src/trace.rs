//! Hardware traces: what a recording of one has to open, to keep and to tell its decoder.
//!
//! ```text
//!  requests + options -> setup: groups, terms, sizes, other events -> the plan, with an area for each ring of a trace
//!  areas -> newest (snapshots) or whole pieces -> AUXTRACE records
//!  setup, CPU, clock -> info: AUXTRACE_INFO
//! ```
//!
//! The bytes of a trace are nobody's business here: they go from the areas to the file as they are.

mod error;
mod groups;
mod info;
mod intel_pt;
mod setup;
mod sizes;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;

pub use error::TraceError;
pub(crate) use info::write_info;
pub(crate) use intel_pt::missing_terms;
pub(crate) use setup::{TraceInputs, TraceKept, TraceSetup, set_up, tells_switches};
pub(crate) use snapshot::SnapshotHead;
