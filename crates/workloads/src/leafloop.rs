//! `leafloop`: time spent in a function that calls nothing, below two that are known.

use std::hint::black_box;

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "leafloop",
    arguments: "[SECONDS]",
    symbols: &["leafloop", "parent", "leaf"],
    run,
};

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    leafloop(Until::after(seconds(arguments.first(), 1.0)?));
    Ok(())
}

/// The outermost of the three.
#[unsafe(no_mangle)]
#[inline(never)]
fn leafloop(until: Until) {
    parent(until);
    // The call is no jump, here and below: the function stays on the stack.
    black_box(1);
}

/// Calls `leaf`.
#[unsafe(no_mangle)]
#[inline(never)]
fn parent(until: Until) {
    leaf(until);
    black_box(2);
}

/// The time is spent here.
#[unsafe(no_mangle)]
#[inline(never)]
fn leaf(until: Until) {
    let mut sum = 0u32;
    spin(until, || sum = black_box(sum).wrapping_add(1));
}
