//! Tests over whole recordings: those that perf made, and damaged ones.

#![allow(clippy::print_stderr)]

mod hostile;
mod recorded;
mod recording;
