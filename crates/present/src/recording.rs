//! Facts of a recording as text: its header, events, build ids, threads, counters, statistics and damage.

pub mod buildid_list;
pub mod data_check;
pub mod event_names;
pub mod evlist;
pub mod header;
pub mod stats;
pub mod symbols;
pub mod tasks;
pub mod thread_counters;
