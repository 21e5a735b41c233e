//! `deterministic`: the same few instructions each time, for traces whose every step is known.

use std::hint::black_box;

use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "deterministic",
    arguments: "",
    symbols: &["deterministic", "function1", "function2"],
    run,
};

fn run(_: &[String]) -> Result<(), WorkloadError> {
    deterministic();
    Ok(())
}

/// Three steps, two calls with a step between.
#[unsafe(no_mangle)]
#[inline(never)]
fn deterministic() {
    let mut sum = black_box(1u32);
    sum = black_box(sum).wrapping_add(2);
    sum = function1(sum);
    sum = black_box(sum).wrapping_add(3);
    black_box(function2(sum));
}

/// Three steps.
#[unsafe(no_mangle)]
#[inline(never)]
fn function1(mut sum: u32) -> u32 {
    sum = black_box(sum).wrapping_add(10);
    sum = black_box(sum).wrapping_add(11);
    black_box(sum).wrapping_add(12)
}

/// Three others.
#[unsafe(no_mangle)]
#[inline(never)]
fn function2(mut sum: u32) -> u32 {
    sum = black_box(sum).wrapping_add(20);
    sum = black_box(sum).wrapping_add(21);
    black_box(sum).wrapping_add(22)
}
