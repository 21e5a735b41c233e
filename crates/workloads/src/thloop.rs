//! `thloop`: threads that run one function.

use std::hint::black_box;

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "thloop",
    arguments: "[SECONDS [THREADS]]",
    symbols: &["thfunc", "test_loop"],
    run,
};

const DEFAULT_THREADS: usize = 2;

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let span = seconds(arguments.first(), 1.0)?;
    if span == 0.0 {
        return Err(too_small("seconds", &arguments[0]));
    }
    let threads = match arguments.get(1) {
        None => DEFAULT_THREADS,
        Some(given) => given
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .ok_or_else(|| too_small("thread count", given))?,
    };
    let until = Until::after(span);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            std::thread::Builder::new()
                .spawn_scoped(scope, move || thfunc(until))
                .map_err(WorkloadError::system("start a thread"))?;
        }
        test_loop(until);
        Ok(())
    })
}

fn too_small(argument: &'static str, given: &str) -> WorkloadError {
    WorkloadError::TooSmall {
        argument,
        given: given.to_owned(),
    }
}

/// The first function of each further thread.
#[unsafe(no_mangle)]
#[inline(never)]
fn thfunc(until: Until) {
    test_loop(until);
    // The call above is no jump: this function stays on the stack.
    black_box(1);
}

/// The time is spent here, on every thread.
#[unsafe(no_mangle)]
#[inline(never)]
fn test_loop(until: Until) {
    spin(until, || ());
}
