//! `datasym`: loads and stores of two places in a variable that is known.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "datasym",
    arguments: "[SECONDS]",
    symbols: &["datasym", "workload_datasym_buf1"],
    run,
};

/// A cache line with data at both of its ends.
#[repr(C, align(64))]
struct Line {
    /// At offset 0.
    data1: AtomicU8,
    reserved: [u8; 55],
    /// At offset 0x38.
    data2: AtomicU8,
}

/// The variable.
#[unsafe(no_mangle)]
#[allow(
    non_upper_case_globals,
    reason = "the name that scripts look for in the binary"
)]
static workload_datasym_buf1: Line = Line {
    data1: AtomicU8::new(0),
    reserved: [0; 55],
    data2: AtomicU8::new(0),
};

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    datasym(Until::after(seconds(arguments.first(), 1.0)?));
    Ok(())
}

/// Works on the variable for a while.
#[unsafe(no_mangle)]
#[inline(never)]
fn datasym(until: Until) {
    let line = &workload_datasym_buf1;
    spin(until, || {
        let next = line.data1.load(Relaxed).wrapping_add(1);
        line.data1.store(next, Relaxed);
        let sum = line.data2.load(Relaxed).wrapping_add(next);
        line.data2.store(sum ^ line.reserved[0], Relaxed);
    });
}
