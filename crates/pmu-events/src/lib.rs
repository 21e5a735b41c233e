//! Tables of the events and metrics of CPU models: built in for Intel, AMD and Arm, and read from JSON for any.
//!
//! For whoever has to know what `inst_retired.any` means on a CPU: [`EventTables`] holds the tables of one CPU, chosen by
//! its identification, and gives each event as terms in perf's words (`event=0xc0,umask=1,period=2000003`). The built-in
//! tables hold names and encodings and no descriptions; a block of them is unpacked when the first name is looked up.
//!
//! Nothing here knows which PMUs a system has, or what a term becomes in an attribute.
//!
//! ```
//! use oxperf_pmu_events::EventTables;
//!
//! let tables = EventTables::builtin("GenuineIntel-6-5E-3").unwrap();
//! let event = tables.event("cpu", "inst_retired.any").unwrap();
//! assert_eq!((event.terms, event.topic), ("event=0xc0,period=2000003", "pipeline"));
//! assert!(EventTables::builtin("004b0100").is_none());
//! ```

mod builtin;
mod entry;
mod error;
mod folder;
pub mod import;
mod json;
mod mapfile;
pub mod packed;
mod plain_names;
mod published;
mod retire_latency;
mod store;
mod tables;

pub use entry::{ScaleUnit, TableEvent, TableMetric};
pub use error::{TableProblem, TablesError};
pub use folder::TableFolder;
pub use mapfile::{MapRow, Mapfile, is_identifier};
pub use retire_latency::RetireLatency;
pub use tables::EventTables;
