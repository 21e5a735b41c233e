//! The fuzz targets as programs: their names, and how they are compiled.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::check_names;
use super::target::Target;
use crate::workspace;

/// What libFuzzer needs of the compiler: counters of edges with their places, and the operands of comparisons. Every
/// toolchain has the pass. `fuzzing` is the cfg that `cargo fuzz` sets, too.
const FLAGS: [&str; 7] = [
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// The folder of the targets.
pub(super) fn folder() -> PathBuf {
    workspace::root().join("fuzz")
}

/// Cargo's target directory for them: they are a workspace of their own.
pub(super) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder().join("target"), PathBuf::from)
}

/// The targets with these names, or all of them.
pub(super) fn targets(only: &[String]) -> Result<Vec<Target>> {
    let output = cargo("metadata")
        .args(["--format-version", "1", "--no-deps"])
        .output()?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("the manifest of fuzz/")?;
    let bins = metadata["packages"][0]["targets"]
        .as_array()
        .context("fuzz/ has no targets")?;
    let is_bin = |target: &&Value| target["kind"][0] == "bin";
    let bins = bins
        .iter()
        .filter(is_bin)
        .filter_map(|bin| bin["name"].as_str());
    let mut names: Vec<String> = bins.map(str::to_owned).collect();
    names.sort();
    check_names(only, &names)?;
    let programs = target_dir().join(host()?).join("release");
    let asked = names
        .into_iter()
        .filter(|name| only.is_empty() || only.contains(name));
    Ok(asked
        .map(|name| Target {
            program: programs.join(&name),
            name,
        })
        .collect())
}

/// Compiles the targets. A target triple is named so that build scripts and macros stay without counters.
pub(super) fn build(targets: &[Target]) -> Result<()> {
    let mut command = cargo("build");
    command.args(["--release", "--locked", "--target", &host()?]);
    command.args(targets.iter().flat_map(|target| ["--bin", &target.name]));
    command
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    if !command.status()?.success() {
        bail!("the fuzz targets could not be built");
    }
    Ok(())
}

fn cargo(command: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo
        .arg(command)
        .arg("--manifest-path")
        .arg(folder().join("Cargo.toml"));
    cargo
}

/// The triple that the compiler works on.
fn host() -> Result<String> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .context("rustc did not start")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}
