//! `faults`: every call of the fault tests fails once, and not only those that the tests take; and a CPU goes offline.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;
use crate::workspace;

/// The tests take some calls of long runs, and all of them where this variable says so.
const FAULTS: (&str, &str) = ("OXPERF_FAULTS", "all");

/// The test that takes a CPU offline does so where this variable is set.
const UNPLUG: (&str, &str) = ("OXPERF_UNPLUG", "1");

/// Runs the tests with the words left in `args`, such as the name of one.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let words = args.rest();
    let mut good = test("faults", FAULTS, &words)?;
    if words.is_empty() {
        good &= test("it", UNPLUG, &["a_cpu_that_goes_offline".to_owned()])?;
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn test(name: &str, asked: (&str, &str), words: &[String]) -> Result<bool> {
    let status = workspace::cargo()
        .args(["test", "-p", "oxperf", "--test", name, "--", "--nocapture"])
        .args(words)
        .env(asked.0, asked.1)
        .status()?;
    Ok(status.success())
}
