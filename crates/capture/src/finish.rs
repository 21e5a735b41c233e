//! Facts that only the records know, looked up in the finished file or counted as they go by, and the features.

mod build_ids;
mod clock;
mod features;
mod hit_dsos;
mod read;
mod scan;

pub(crate) use build_ids::build_ids;
pub(crate) use clock::{ClockFacts, clock_facts};
pub(crate) use features::{RecordingFacts, add_recording_features};
pub(crate) use read::FileRecords;
pub(crate) use scan::{Scan, Tally};
