//! Results to text and HTML; computes nothing.

pub mod flamegraph;
pub mod visible;
