//! Event text and PMU catalogues to perf_event attributes.
