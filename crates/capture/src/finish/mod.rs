//! After the recording: one look over the finished records for what only they know, and the features of the file.

mod build_ids;
mod features;
mod hits;
mod scan;

pub(crate) use build_ids::build_ids;
pub(crate) use features::{RecordingFacts, add_recording_features};
pub(crate) use scan::{Scan, scan};
