//! The kernel side: perf_event_open, rings, mappings. The only crate with unsafe code.
