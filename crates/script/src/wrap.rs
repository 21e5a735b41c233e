//! Wrappers of formats: each changes one thing of what goes to the format that it wraps.

pub mod dlfilter;
pub mod event_dumps;
pub mod line_cache;
pub mod record_dump;
pub mod stat_rounds;
