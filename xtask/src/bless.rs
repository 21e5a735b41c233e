//! `bless`: lets the tests rewrite their expected texts.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;
use crate::workspace;

/// Tests compare with `expected.*` beside their input, or write it when this variable is set.
const BLESS: &str = "OXPERF_BLESS";

/// Runs `cargo test --workspace` with the words left in `args` and the blessing on.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    let status = workspace::cargo()
        .args(["test", "--workspace"])
        .args(args.rest())
        .env(BLESS, "1")
        .status()?;
    println!("look at the change before you commit it: git diff --stat");
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
