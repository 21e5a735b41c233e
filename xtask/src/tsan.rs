//! `tsan`: tests of what several threads do, under ThreadSanitizer.
//!
//! The standard library is built with it, too: without that each of its locks looks like a race. Both need a nightly
//! toolchain with its own source.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::args::Args;
use crate::workspace;

/// Tests of rings, drains and pools.
const TESTS: &[&str] = &[
    "--lib",
    "--tests",
    "-p",
    "oxperf-sys",
    "-p",
    "oxperf-capture",
    "-p",
    "oxperf-session",
    "-p",
    "oxperf-ordered",
    "-p",
    "oxperf-present",
];

/// Tests of the program over small recordings, which take minutes.
const GOLDENS: &[&str] = &["-p", "oxperf", "--test", "golden"];
/// Tests of streams and recordings, likewise.
const STREAMS: &[&str] = &[
    "-p",
    "oxperf",
    "--test",
    "it",
    "--",
    "streams::",
    "record::",
];

/// Runs them, with `--all` those of the program, too. A program that reports a race ends with 66, which no test expects.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let all = args.flag("--all");
    args.finish()?;
    let Some((host, source)) = nightly() else {
        println!("SKIPPED: there is no nightly toolchain (rustup toolchain install nightly)");
        return Ok(ExitCode::SUCCESS);
    };
    if !source.is_dir() {
        println!(
            "SKIPPED: nightly's source is not there (rustup component add rust-src --toolchain nightly)"
        );
        return Ok(ExitCode::SUCCESS);
    }
    let runs = [TESTS, GOLDENS, STREAMS];
    for words in &runs[..if all { runs.len() } else { 1 }] {
        let mut command = Command::new("rustup");
        command
            .args([
                "run",
                "nightly",
                "cargo",
                "test",
                "--locked",
                "-Zbuild-std",
                "--target",
                &host,
            ])
            .args(*words);
        command
            .current_dir(workspace::root())
            .env("CARGO_TARGET_DIR", workspace::root().join("target/tsan"));
        // The variables are those of the cargo that runs this task.
        command.env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        // A SIGBUS that the guard of mappings passes on has to kill, as it does without the sanitizer.
        command.env("TSAN_OPTIONS", "handle_sigbus=0");
        let status = command
            .env("RUSTFLAGS", "-Zsanitizer=thread")
            .status()
            .context("rustup")?;
        if !status.success() {
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("no data race");
    Ok(ExitCode::SUCCESS)
}

/// Returns what nightly builds for, and where its standard library's source would be.
fn nightly() -> Option<(String, PathBuf)> {
    let said = |words: &[&str]| {
        let mut command = Command::new("rustup");
        let output = command
            .args(["run", "nightly", "rustc"])
            .args(words)
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let version = said(&["-vV"])?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))?
        .to_owned();
    let root = said(&["--print", "sysroot"])?;
    Some((
        host,
        Path::new(root.trim()).join("lib/rustlib/src/rust/library"),
    ))
}
