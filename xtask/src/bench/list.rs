//! `list` of this machine, as text and as JSON.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::results::{Figure, keep};
use super::{Options, median, reference};

/// The forms of the list, with the options that ask for them.
const FORMS: [(&str, &[&str]); 2] = [("text", &[]), ("json", &["-j"])];

/// Measures both programs alternately.
pub(super) fn run(options: &Options) -> Result<()> {
    let figures = FORMS
        .iter()
        .map(|(what, arguments)| figure(what, arguments, options));
    let figures = figures.collect::<Result<Vec<_>>>()?;
    keep(&options.folder, "list", "perf7", &figures)
}

fn figure(what: &'static str, arguments: &[&str], options: &Options) -> Result<Figure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..options.runs {
        ours.push(time(&options.binary, arguments)?);
        if let Some(program) = reference() {
            theirs.push(time(program, arguments)?);
        }
    }
    Ok(Figure {
        what,
        unit: "ms",
        ours: median(ours)?,
        reference: median(theirs).ok(),
    })
}

/// Milliseconds of one list.
fn time(program: &Path, arguments: &[&str]) -> Result<f64> {
    let start = Instant::now();
    let status = Command::new(program)
        .arg("list")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| program.display().to_string())?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    ensure!(status.success(), "{}: {status}", program.display());
    Ok(time)
}
