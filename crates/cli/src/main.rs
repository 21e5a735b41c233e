//! The `oxperf` command.
fn main() {}
