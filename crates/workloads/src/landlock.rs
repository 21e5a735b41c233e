//! `landlock`: two calls of `landlock_add_rule` whose arguments are known; both fail.

use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "landlock",
    arguments: "",
    symbols: &[],
    run,
};

const RULESET: i32 = 11;
const FLAGS: u32 = 45;

fn run(_: &[String]) -> Result<(), WorkloadError> {
    os::add_landlock_path_rule(RULESET, FLAGS);
    os::add_landlock_port_rule(RULESET, FLAGS);
    Ok(())
}
