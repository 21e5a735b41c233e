//! The perf.data container: read and write.
