//! The oxperf binary under test.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::workspace;

/// The binary that `--bin` or `OXPERF` names, else a fresh release build.
pub(crate) fn find(args: &mut Args) -> Result<PathBuf> {
    let named = args
        .value("--bin")?
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("OXPERF").map(PathBuf::from));
    match named {
        Some(path) => path
            .canonicalize()
            .with_context(|| path.display().to_string()),
        None => build(),
    }
}

fn build() -> Result<PathBuf> {
    let status = workspace::cargo()
        .args(["build", "--release", "--package", "oxperf"])
        .status()?;
    if !status.success() {
        bail!("the release build failed");
    }
    let path = workspace::target_dir().join("release/oxperf");
    path.canonicalize()
        .with_context(|| path.display().to_string())
}
