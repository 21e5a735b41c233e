//! Recording a hardware trace of four CPUs at a high rate, on made-up hardware: what the recorder costs beside `cp` of as much.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Options, libipt};
use crate::workspace;

/// Runs the recorder over the trace of the largest recording; says so where that is not there.
///
/// # Errors
/// It does not build, or does not tell what was lost.
pub(super) fn run(options: &Options) -> Result<()> {
    let recording = workspace::shared().map(|shared| shared.join("fixtures/pt/big/perf.data"));
    let Some(recording) = recording.filter(|recording| recording.is_file()) else {
        println!("SKIPPED: there is no ../shared/fixtures/pt/big with a trace");
        return Ok(());
    };
    let folder = options.folder.join("long-trace");
    std::fs::create_dir_all(&folder)?;
    let stream = folder.join("stream");
    std::fs::write(&stream, libipt::trace_of(&recording)?)?;
    let mut recorder = Command::new("cargo");
    recorder
        .args(["run", "--release", "--quiet", "--manifest-path"])
        .arg(workspace::root().join("Cargo.toml"))
        .args(["-p", "oxperf-capture", "--example", "long_trace", "--"])
        .arg(&stream)
        .arg(options.seconds.to_string())
        .current_dir(&folder);
    let ended = recorder.status().context("cargo")?;
    std::fs::remove_dir_all(&folder)?;
    ensure!(
        ended.success(),
        "the recorder failed, or did not tell what was lost"
    );
    Ok(())
}
