//! Results to text and HTML; computes nothing.

pub mod flamegraph;
pub mod hot;
pub mod script;
pub mod visible;
