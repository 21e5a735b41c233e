//! `sqrtloop`: a child process that takes square roots.

use std::hint::black_box;

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "sqrtloop",
    arguments: "[SECONDS]",
    symbols: &["__sqrtloop"],
    run,
};

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let seconds = seconds(arguments.first(), 10.0)?;
    let child = os::fork(|| __sqrtloop(Until::after(seconds)))?;
    child.wait()
}

/// Takes square roots of numbers that look random.
#[unsafe(no_mangle)]
#[inline(never)]
fn __sqrtloop(until: Until) {
    let mut number = 1u32;
    spin(until, || {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        black_box(f64::from(number).sqrt());
    });
}
