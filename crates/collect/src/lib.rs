//! Filling a profile from a session: every sample located, named and merged as it comes.
//!
//! Samples are taken in batches. Within a batch addresses are kept with what was mapped at their moment; at its end they
//! are located and the new ones named, on all cores, and the chains enter the context tree by what they are called. So the
//! tree grows with distinct functions, not with the address spaces that hold them, and naming costs once for each place.

mod access_table;
mod address_counts;
mod batch;
mod block_counts;
mod branch_history;
mod branches;
mod collector;
mod comms;
mod detail_collector;
mod frame_namer;
mod function_locator;
mod function_numbers;
mod locator;
mod lookup;
mod map_sizes;
mod merged_event;
mod merged_locator;
mod merger;
mod named_frames;
mod new_addresses;
mod options;
mod parallelism;
mod recorded_events;
mod sources;
mod split;
mod stack_namer;
mod symbol_frames;
mod two_pass;

pub use collector::Collector;
pub use options::{BlockDetail, BranchDetail, CollectOptions, LineText, MergeThreads};
pub use recorded_events::{event_profiles, latency_cpus};
pub use stack_namer::{StackNamer, StackNames, StackOptions};
pub use two_pass::FirstPass;
