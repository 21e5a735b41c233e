//! `miri`: the tests of the crates that take bytes apart, under an interpreter that notices undefined behaviour.
//!
//! Miri is a component of nightly toolchains. Where there is none, this says so.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::args::Args;
use crate::workspace;

/// The crates, of which the unit tests are run: those read no file, and are small.
const CRATES: [&str; 4] = ["oxperf-abi", "oxperf-wire", "oxperf-tar", "intel-pt"];
/// Tests beside them that are small enough: the crate, its binary and the names of its tests.
const TESTS: [[&str; 3]; 1] = [["intel-pt", "it", "hostile::"]];

/// Runs the tests; fails when one does.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let present = cargo()
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !present {
        println!("SKIPPED: there is no nightly toolchain with Miri here; nothing was interpreted");
        println!("         rustup toolchain install nightly --component miri,rust-src");
        return Ok(ExitCode::SUCCESS);
    }
    let units = CRATES.iter().flat_map(|name| ["--package", name]);
    let mut good = cargo()
        .args(["test", "--lib", "--locked"])
        .args(units)
        .status()?
        .success();
    for [package, binary, names] in TESTS {
        good &= cargo()
            .args(["test", "--locked", "--package", package])
            .args(["--test", binary, names])
            .status()?
            .success();
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// `cargo miri` of the nightly toolchain: the cargo that runs this task is another.
fn cargo() -> Command {
    let mut command = Command::new("rustup");
    command
        .args(["run", "nightly", "cargo", "miri"])
        .current_dir(workspace::root());
    command
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("RUSTC");
    command
}
