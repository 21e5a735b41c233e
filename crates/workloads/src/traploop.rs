//! `traploop`: a function that enters the kernel by an instruction that traps.

use crate::spin::loops;
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "traploop",
    arguments: "[LOOPS]",
    symbols: &["trap_bench"],
    run,
};

const DEFAULT_LOOPS: u64 = 10;

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let loops = loops(arguments.first(), DEFAULT_LOOPS)?;
    os::ignore_traps()?;
    for _ in 0..loops {
        trap_bench();
    }
    Ok(())
}

/// Traps once.
#[unsafe(no_mangle)]
#[inline(never)]
fn trap_bench() {
    os::trap();
}
