//! `brstack`: branches of each kind between functions that are known.

use std::hint::black_box;

use crate::spin::loops;
use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "brstack",
    arguments: "[LOOPS]",
    symbols: &["brstack", "brstack_bench", "brstack_foo", "brstack_bar"],
    run,
};

/// A few milliseconds.
const DEFAULT_LOOPS: u64 = 999_999;

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    brstack(loops(arguments.first(), DEFAULT_LOOPS)?);
    Ok(())
}

/// Calls the bench so many times.
#[unsafe(no_mangle)]
#[inline(never)]
fn brstack(loops: u64) {
    let mut done = 0;
    loop {
        if black_box(done) >= loops {
            break;
        }
        brstack_bench(done);
        done += 1;
    }
}

/// Branches on a condition, calls through a pointer, and calls both others.
#[unsafe(no_mangle)]
#[inline(never)]
fn brstack_bench(nth: u64) {
    if black_box(nth) & 1 == 0 {
        black_box(1);
    } else {
        black_box(2);
    }
    let indirect: fn() = black_box(brstack_foo);
    indirect();
    brstack_foo();
    brstack_bar();
    black_box(3);
}

/// Calls the last.
#[unsafe(no_mangle)]
#[inline(never)]
fn brstack_foo() {
    brstack_bar();
    black_box(4);
}

/// Calls nothing.
#[unsafe(no_mangle)]
#[inline(never)]
fn brstack_bar() {
    black_box(5);
}
