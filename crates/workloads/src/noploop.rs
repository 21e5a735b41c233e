//! `noploop`: one thread that does nothing for a while.

use crate::spin::{Until, seconds, spin};
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "noploop",
    arguments: "[SECONDS]",
    symbols: &["noploop"],
    run,
};

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let seconds = seconds(arguments.first(), 1.0)?;
    os::name_thread("perf-noploop")?;
    noploop(Until::after(seconds));
    Ok(())
}

/// Does nothing for a while.
#[unsafe(no_mangle)]
#[inline(never)]
fn noploop(until: Until) {
    spin(until, || ());
}
