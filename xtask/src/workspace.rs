//! Paths: the project's root, its packages and files, and `../shared`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The project's folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The folder with fixtures and inputs, when it exists.
pub(crate) fn shared() -> Option<PathBuf> {
    let path =
        std::env::var_os("OXPERF_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    path.canonicalize().ok()
}

/// A scratch folder under cargo's target directory.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let folder = target_dir().join(name);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Cargo's target directory.
pub(crate) fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Returns what `cargo metadata` says, dependencies included.
pub(crate) fn metadata() -> Result<Value> {
    let text = stdout_of(cargo().args(["metadata", "--format-version", "1"]))?;
    Ok(serde_json::from_slice(&text)?)
}

/// The files that git tracks or would track, relative to the root.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let arguments = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let text = stdout_of(Command::new("git").current_dir(root()).args(arguments))?;
    let names = text
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty());
    let paths = names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()));
    Ok(paths.filter(|path| root().join(path).is_file()).collect())
}

/// The cargo that runs this task, in the project's folder.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn stdout_of(command: &mut Command) -> Result<Vec<u8>> {
    let output = command
        .output()
        .with_context(|| format!("{:?} did not start", command.get_program()))?;
    if !output.status.success() {
        bail!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(output.stdout)
}
