//! Pure aggregation of samples: histograms and call trees.
//!
//! [`Profile`](oxperf_profile::Profile) is what goes in, values that name
//! nothing twice; rows and trees come out. Nothing here reads a file, prints, or knows how a sample was recorded.

pub mod blocks;
pub mod calls;
pub mod counters;
pub mod counts;
pub mod diff;
pub mod flame;
pub mod function_costs;
pub mod hist;
pub mod places;
pub mod stacks;
pub mod streams;
pub mod tasks;
pub mod timeline;
