//! `inlineloop`: time spent in functions that became part of another, on lines that are known. This is Rust; scripts
//! look for lines of a file of this name: the two inlined functions on lines 20 to 29, their caller on lines 30 to 39.
//!
//! Nothing else about the place of a line matters, so text above the functions grows and shrinks with them. A test of
//! the command `test` reads the lines from the binary.

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "inlineloop",
    arguments: "[SECONDS]",
    symbols: &["inlineloop_parent"],
    run,
};

/// The innermost: the time is spent here.
#[inline(always)]
fn leaf(until: Until) {
    spin(until, || ());
}

/// Between the two.
#[inline(always)]
fn middle(until: Until) {
    leaf(until);
}

/// The caller, which no other function takes in.
#[unsafe(no_mangle)]
#[inline(never)]
fn inlineloop_parent(until: Until) {
    middle(until);
}

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let seconds = seconds(arguments.first(), 1.0)?;
    os::name_thread("perf-inlineloop")?;
    inlineloop_parent(Until::after(seconds));
    Ok(())
}
