//! `list` of this machine, as text.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::results::{Figure, keep};
use super::{Options, median, reference};

/// Measures both programs alternately.
pub(super) fn run(options: &Options) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        ours.push(time(&options.binary)?);
        if let Some(program) = reference() {
            theirs.push(time(program)?);
        }
    }
    let figure = Figure {
        what: "text",
        unit: "ms",
        ours: median(ours)?,
        reference: median(theirs).ok(),
    };
    keep(&options.folder, "list", "perf7", &[figure])
}

/// Milliseconds of one list.
fn time(program: &Path) -> Result<f64> {
    let start = Instant::now();
    let status = Command::new(program)
        .arg("list")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| program.display().to_string())?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    ensure!(status.success(), "{}: {status}", program.display());
    Ok(time)
}
