//! `faults`: every call of the fault tests fails once, and not only those that the tests take.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;
use crate::workspace;

/// The tests take some calls of long runs, and all of them where this variable says so.
const FAULTS: (&str, &str) = ("OXPERF_FAULTS", "all");

/// Runs the tests with the words left in `args`, such as the name of one.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let words = [
        "test",
        "-p",
        "oxperf",
        "--test",
        "faults",
        "--",
        "--nocapture",
    ];
    let status = workspace::cargo()
        .args(words)
        .args(args.rest())
        .env(FAULTS.0, FAULTS.1)
        .status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
