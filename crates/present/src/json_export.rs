//! The JSON of `data convert --to-json`: an object with the recording's header and all of its samples.
//!
//! It is written piece by piece into the caller's buffer, so that a recording of any size streams through: [`begin`],
//! the [`Samples`] one by one, [`Samples::end`]. Keys, their order and the indentation are perf's.

mod header;
mod samples;

use crate::json::string;

pub use header::begin;
pub use samples::{SampleHead, Samples, write_name, write_trace_field};

/// Ends the line before and indents the next one.
fn line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + depth, b'\t');
}

/// Appends a key on its own line.
fn key(out: &mut Vec<u8>, depth: usize, name: &str) {
    line(out, depth);
    string::write(name, out);
    out.extend_from_slice(b": ");
}
